// Redeeming an invitation for a key. This page needs no session.

import { request } from "./api.js";
import { codeBlock, copyButton, el, formatTime, properties, showError, showStatus } from "./dom.js";

/** Returns the invitation in the address of the page, if there is one. */
export const invitationIn = (hash) => hash.match(/^#\/redeem\/(fi-[0-9a-f]{32})$/)?.[1];

/** Shows an invitation. Only a click redeems it, so that programs that preview links do not. */
export function redeemPage(main, invitation) {
  const submit = el("button", { type: "button", class: "main", onclick: async () => {
    submit.disabled = true;
    try {
      const { data } = await request("POST", "/v2/keys/redeem", { invitation });
      main.replaceChildren(el("div", { class: "narrow" }, newKey(data)));
      showStatus("The invitation was redeemed");
      main.focus();
    } catch (error) {
      showError(error.message);
      submit.disabled = false;
    }
  } }, "Get the key");
  main.replaceChildren(el("div", { class: "narrow" }, el("section", { class: "card" }, el("h1", {}, "You are invited"),
    el("p", {}, "This invitation gives you an API key of this service. It can be redeemed once: have a place ready where you store the key, such as a password manager."), submit)));
  document.title = "Invitation - websvc";
  submit.focus();
}

function newKey({ key, team, name, scopes, formats, requestsPerMinute, expiresAt }) {
  const example = `curl ${location.origin}/v2/scrape -H "Authorization: Bearer $WEBSVC_API_KEY" -H "Content-Type: application/json" -d '{"url": "https://example.com"}'`;
  return el("section", { class: "card new" }, el("h1", {}, "Your new key"), el("p", {}, "Copy it now: it is shown only once."),
    el("p", { class: "row" }, el("code", { class: "secret" }, key), copyButton(() => key, "key")),
    properties([
      ["Team", team],
      ["Name", name || undefined],
      ["Operations", scopes?.join(", ") ?? "all"],
      ["Formats", formats?.join(", ")],
      ["Requests per minute", requestsPerMinute],
      ["Expires", expiresAt ? formatTime(expiresAt) : "never"],
    ]),
    codeBlock("Example", example));
}
