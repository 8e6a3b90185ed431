// The frame of the dashboard: signing in and out, and the navigation between pages.

import { request, setOnSessionEnd, setSession } from "./api.js";
import { codeBlock, el, field, showError, showStatus, takeNotice } from "./dom.js";
import { authorizationIn, consentPage } from "./consent.js";
import { failureIn, providerButton, restorePage } from "./provider.js";
import { agents } from "./agents.js";
import { playground } from "./playground.js";
import { monitors } from "./monitors.js";
import { sessions } from "./sessions.js";
import { usage } from "./usage.js";
import { invitationIn, redeemPage } from "./redeem.js";
import { requests } from "./requests.js";
import { feedback } from "./feedback.js";
import { keys } from "./keys.js";
import { teams } from "./teams.js";
import { system } from "./system.js";

const PAGES = [
  { path: "playground", title: "Playground", show: playground },
  { path: "monitors", title: "Monitors", show: monitors },
  { path: "agents", title: "Agents", show: agents },
  { path: "sessions", title: "Sessions", show: sessions },
  { path: "usage", title: "Usage", show: usage },
  { path: "requests", title: "Requests", show: requests },
  { path: "feedback", title: "Feedback", show: feedback },
  { path: "keys", title: "Keys", show: keys },
  { path: "teams", title: "Teams", show: teams },
  { path: "system", title: "System", show: system },
];

const main = document.getElementById("main");
const nav = document.querySelector("nav");
const account = document.querySelector(".account");
let session = null;
/** The name of the identity provider, if users can sign in by one. */
let provider = null;
/** Stops the refresh of the current page. */
let leavePage = null;

function showSignIn(reason) {
  nav.hidden = true;
  account.hidden = true;
  const key = el("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const submit = el("button", { class: "main" }, "Sign in");
  const form = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      session = setSession(await request("POST", "/dashboard/session", { key: key.value }));
      showStatus("");
      start();
      main.focus();
    } catch (error) {
      showError(error.message);
      key.select();
    }
    submit.disabled = false;
  } }, el("h1", {}, "Sign in"), field("Admin key", key, "The key is sent only to this service. It starts a session of 12 hours."), submit, provider ? providerButton(provider) : null);
  main.replaceChildren(el("div", { class: "narrow" }, form, el("section", { class: "help", "aria-label": "How to create an admin key" },
    el("h2", {}, "No admin key yet?"),
    el("p", {}, "On the machine of the service, while it runs:"),
    codeBlock("Command", "websvc keys create --admin"),
    el("p", { class: "hint" }, "Use the --data-dir (or WEBSVC_DATA_DIR) of the service: its log contains the complete command."),
    el("p", {}, "In a container, before the service starts, as a variable with at least 16 characters:"),
    codeBlock("Variable", 'WEBSVC_ADMIN_KEY="$(openssl rand -hex 24)"'),
    el("p", { class: "hint" }, "The key of the first start in a terminal is an admin key. That of the first start in a container, and WEBSVC_API_KEY, are not."))));
  document.title = "Sign in - websvc";
  if (reason) showError(reason);
  key.focus();
}

async function signOut() {
  try {
    await request("DELETE", "/dashboard/session");
  } catch (error) {
    showError(error.message);
    return;
  }
  endSession();
  showSignIn();
}

function endSession() {
  if (leavePage) leavePage();
  leavePage = null;
  session = null;
  setSession({});
}

function start() {
  nav.replaceChildren(el("ul", {}, ...PAGES.map(({ path, title }) => el("li", {}, el("a", { href: `#/${path}` }, title)))));
  nav.hidden = false;
  account.hidden = false;
  account.replaceChildren(...(session.required ? [el("span", { dir: "auto" }, session.team), " ", el("button", { type: "button", class: "small", onclick: signOut }, "Sign out")] : ["No key is required on this machine"]));
  showPage();
}

async function showPage(isNavigation = false) {
  if (!session) return;
  const [path, ...parts] = location.hash.replace(/^#\//, "").split("/");
  const authorization = authorizationIn(location.hash);
  const page = authorization === undefined ? PAGES.find((other) => other.path === path) ?? PAGES[0] : { title: "Connect", show: (container) => consentPage(container, authorization) };
  if (leavePage) leavePage();
  leavePage = null;
  for (const anchor of nav.querySelectorAll("a")) {
    if (anchor.getAttribute("href") === `#/${page.path}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  document.title = `${page.title} - websvc`;
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const container = el("div", { "aria-busy": "true" }, el("h1", {}, page.title));
  main.replaceChildren(container);
  showStatus(takeNotice());
  try {
    const leave = (await page.show(container, session, parts)) ?? null;
    // The user may have opened another page in the meantime.
    if (container.isConnected) leavePage = leave;
    else leave?.();
  } catch (error) {
    if (session && container.isConnected) {
      showError(error.message);
      container.append(el("p", { class: "empty" }, "The page could not be loaded. ", el("button", { type: "button", onclick: () => showPage() }, "Try again")));
    }
  }
  container.removeAttribute("aria-busy");
  // Move the focus into the page, unless the user has moved it elsewhere in the meantime.
  const isFocusOutside = document.activeElement === document.body || (isNavigation && nav.contains(document.activeElement));
  if (container.isConnected && isFocusOutside) main.focus({ preventScroll: true });
}

setOnSessionEnd(() => {
  if (!session) return;
  endSession();
  showSignIn("The session has ended; sign in again");
});
addEventListener("hashchange", () => { if (!showInvitation() && location.hash.startsWith("#/")) showPage(true); });

/** Shows the invitation in the address, which must not stay there. Returns whether there is one. */
function showInvitation() {
  const invitation = invitationIn(location.hash);
  if (!invitation) return false;
  history.replaceState(null, "", "/");
  if (leavePage) leavePage();
  leavePage = null;
  redeemPage(main, invitation);
  return true;
}

/** Signs in with a link, whose token must not stay in the address. Returns why that failed. */
async function useLink() {
  const [, token] = location.hash.match(/^#\/sign-in\/([0-9a-f]+)$/) ?? [];
  if (!token) return undefined;
  history.replaceState(null, "", "/");
  if (session.csrfToken) return undefined;
  try {
    session = setSession(await request("POST", "/dashboard/session", { link: token }));
  } catch (error) {
    return error.message;
  }
  return undefined;
}

try {
  session = setSession(await request("GET", "/dashboard/session"));
  ({ provider = null } = session);
  const failure = failureIn(location.hash) ?? await useLink();
  if (session.csrfToken) restorePage();
  if (showInvitation()) nav.hidden = true;
  else if (session.csrfToken) start();
  else showSignIn(failure);
} catch (error) {
  showError(error.message);
}
