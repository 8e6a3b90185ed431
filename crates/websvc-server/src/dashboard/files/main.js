// The frame of the dashboard: who is signed in, which page is shown.

import { adopt, ask, whenSignedOut } from "./api.js";
import { complain, el, field, say } from "./dom.js";
import { playground } from "./playground.js";
import { usage } from "./usage.js";
import { requests } from "./requests.js";
import { keys } from "./keys.js";
import { teams } from "./teams.js";
import { system } from "./system.js";

const PAGES = [
  { path: "playground", title: "Playground", show: playground },
  { path: "usage", title: "Usage", show: usage },
  { path: "requests", title: "Requests", show: requests },
  { path: "keys", title: "Keys", show: keys },
  { path: "teams", title: "Teams", show: teams },
  { path: "system", title: "System", show: system },
];

const main = document.getElementById("main");
const nav = document.querySelector("nav");
const who = document.querySelector(".who");
let session = null;
let leave = null;

function signIn(reason) {
  nav.hidden = true;
  who.hidden = true;
  const key = el("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const form = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    try {
      session = adopt(await ask("POST", "/dashboard/session", { key: key.value }));
      say("");
      start();
    } catch (error) {
      complain(error.message);
      key.select();
    }
  } },
  el("h1", {}, "Sign in"),
  field("Admin key", key, "Made by: websvc keys create --team NAME --admin. It is sent to this service only, and a session of 12 hours takes its place."),
  el("button", { class: "main" }, "Sign in"));
  main.replaceChildren(el("div", { class: "narrow" }, form));
  document.title = "Sign in - websvc";
  if (reason) complain(reason);
  key.focus();
}

async function signOut() {
  try {
    await ask("DELETE", "/dashboard/session");
  } catch (error) {
    complain(error.message);
    return;
  }
  end();
  signIn();
}

function end() {
  if (leave) leave();
  leave = null;
  session = null;
  adopt({});
}

function start() {
  nav.replaceChildren(el("ul", {}, ...PAGES.map(({ path, title }) => el("li", {}, el("a", { href: `#/${path}` }, title)))));
  nav.hidden = false;
  who.hidden = false;
  who.replaceChildren(...(session.required ? [`Team ${session.team} `, el("button", { type: "button", onclick: signOut }, "Sign out")] : ["No key is asked for"]));
  turn();
}

async function turn() {
  if (!session) return;
  const wanted = location.hash.replace(/^#\//, "");
  const page = PAGES.find(({ path }) => path === wanted) ?? PAGES[0];
  if (leave) leave();
  leave = null;
  for (const anchor of nav.querySelectorAll("a")) {
    if (anchor.getAttribute("href") === `#/${page.path}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  document.title = `${page.title} - websvc`;
  const place = el("div", {}, el("h1", {}, page.title));
  main.replaceChildren(place);
  say("");
  try {
    leave = (await page.show(place, session)) ?? null;
  } catch (error) {
    if (session) complain(error.message);
  }
  if (place.isConnected && document.activeElement === document.body) main.focus();
}

whenSignedOut(() => {
  if (!session) return;
  end();
  signIn("The session has ended; sign in again");
});
addEventListener("hashchange", () => { if (location.hash.startsWith("#/")) turn(); });

try {
  session = adopt(await ask("GET", "/dashboard/session"));
  if (session.csrfToken) start();
  else signIn();
} catch (error) {
  complain(error.message);
}
