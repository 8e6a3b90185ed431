// Sign-in by an identity provider: the browser leaves the page, and comes back with a session or a failure.

import { el } from "./dom.js";

/** The name under which the page of the user is kept while the browser is at the provider. */
const PAGE = "websvc-page";

/** The failures that the service names. */
const FAILURES = {
  expired: "The sign-in was not started in this browser, was used before, or is older than ten minutes; try again",
  denied: "The identity provider has refused the sign-in",
  provider: "The identity provider could not be reached or did not respond as it should; the log of the service has the reason",
  token: "The identity provider sent a token that is not valid; the log of the service has the reason",
  rights: "Your account may not administer this service: ask the operator for a group with admin in auth.oidc.groups",
};

/** Returns a link to the provider that looks like a button. */
export function providerButton(name) {
  const link = el("a", { class: "button", href: "/dashboard/oidc/start", onclick: () => sessionStorage.setItem(PAGE, location.hash) }, "Sign in with ", el("span", { dir: "auto" }, name));
  return el("p", {}, link);
}

/** Returns the failure in the address of the page, which must not stay there. */
export function failureIn(hash) {
  const [, code] = hash.match(/^#\/sign-in-error\/([a-z]+)$/) ?? [];
  if (!code) return undefined;
  history.replaceState(null, "", "/");
  return Object.hasOwn(FAILURES, code) ? FAILURES[code] : "The sign-in failed";
}

/** Opens the page again from which the user went to the provider. */
export function restorePage() {
  const page = sessionStorage.getItem(PAGE);
  sessionStorage.removeItem(PAGE);
  if (page?.startsWith("#/") && !location.hash && !page.startsWith("#/sign-in")) history.replaceState(null, "", `/${page}`);
}
