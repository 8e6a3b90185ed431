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
  const send = el("button", { class: "main" }, "Sign in");
  const form = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      session = adopt(await ask("POST", "/dashboard/session", { key: key.value }));
      say("");
      start();
      main.focus();
    } catch (error) {
      complain(error.message);
      key.select();
    }
    send.disabled = false;
  } }, el("h1", {}, "Sign in"), field("Admin key", key, "It goes to this service only; a session of 12 hours takes its place."), send);
  main.replaceChildren(el("div", { class: "narrow" }, form, el("section", { class: "help", "aria-label": "How to get an admin key" },
    el("h2", {}, "No admin key yet?"),
    el("p", {}, "On the machine of the service, while it runs:"),
    el("pre", { tabindex: "0" }, "websvc keys create --admin"),
    el("p", { class: "hint" }, "With the --data-dir (or WEBSVC_DATA_DIR) of the service: its log has the whole command."),
    el("p", {}, "In a container, before the service starts, as a variable of your own with at least 16 characters:"),
    el("pre", { tabindex: "0" }, 'WEBSVC_ADMIN_KEY="$(openssl rand -hex 24)"'),
    el("p", { class: "hint" }, "The key of the first start and WEBSVC_API_KEY ask for searches; they do not administer."))));
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
  who.replaceChildren(...(session.required ? [el("span", { dir: "auto" }, session.team), " ", el("button", { type: "button", class: "small", onclick: signOut }, "Sign out")] : ["No key is asked for on this machine"]));
  turn();
}

async function turn(moved = false) {
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
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const place = el("div", { "aria-busy": "true" }, el("h1", {}, page.title));
  main.replaceChildren(place);
  say("");
  try {
    const left = (await page.show(place, session)) ?? null;
    // Somebody may have gone on before the page was there.
    if (place.isConnected) leave = left;
    else left?.();
  } catch (error) {
    if (session && place.isConnected) {
      complain(error.message);
      place.append(el("p", { class: "empty" }, "This page could not be shown. ", el("button", { type: "button", onclick: () => turn() }, "Try again")));
    }
  }
  place.removeAttribute("aria-busy");
  // Whoever chose the page goes on in it; whoever is elsewhere by now stays there.
  const isLeftBehind = document.activeElement === document.body || (moved && nav.contains(document.activeElement));
  if (place.isConnected && isLeftBehind) main.focus({ preventScroll: true });
}

whenSignedOut(() => {
  if (!session) return;
  end();
  signIn("The session has ended; sign in again");
});
addEventListener("hashchange", () => { if (location.hash.startsWith("#/")) turn(true); });

try {
  session = adopt(await ask("GET", "/dashboard/session"));
  if (session.csrfToken) start();
  else signIn();
} catch (error) {
  complain(error.message);
}
