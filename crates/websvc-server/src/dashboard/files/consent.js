// Consent: a user decides whether an OAuth client may use the service.

import { request } from "./api.js";
import { checkboxGroup, el, formatTime, properties, showError } from "./dom.js";

/** Returns the query of a client in the address of the page, if there is one. */
export const authorizationIn = (hash) => hash.match(/^#\/authorize\?(.*)$/)?.[1];

/** Shows what a client asks for, and sends the browser back to it with the decision. */
export async function consentPage(container, query) {
  container.querySelector("h1").textContent = "Connect a program";
  const asked = await request("POST", "/dashboard/oauth/request", { query });
  const { client, redirectUri, redirectHost, redirectScheme, team, scopes, denied } = asked;
  const scopeGroup = checkboxGroup("Operations that it may use", scopes, scopes);
  const allow = el("button", { class: "main" }, "Allow");
  const deny = el("button", { type: "button", onclick: () => location.assign(denied) }, "Deny");
  container.append(el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    allow.disabled = true;
    try {
      const { location: target } = await request("POST", "/dashboard/oauth/authorize", { query, scopes: scopeGroup.read() });
      location.assign(target);
    } catch (error) {
      showError(error.message);
      allow.disabled = false;
    }
  } },
  el("p", {}, "A program that calls itself ", el("strong", { dir: "auto" }, client.name), " asks to use this service as your team. ", ...destination(redirectScheme, redirectHost)),
  el("p", {}, "The name is not checked. Allow this only if you have just started to connect a program, and know this address. The address of your own machine means a program that runs on it."),
  properties([
    ["Team", team],
    ["Address", el("code", {}, redirectUri)],
    ["Client", el("code", {}, client.id)],
    ["Registered", formatTime(client.registeredAt)],
  ]),
  scopeGroup.group,
  el("p", { class: "hint" }, "The page Keys shows the access, and revokes it. Requests cost credits of the team."),
  el("div", { class: "buttons" }, allow, deny)));
}

/** Says where the browser goes: a site, or the program that has the scheme on this machine. */
const destination = (scheme, host) => (scheme
  ? ["You will be sent to the program on this machine that opens addresses of the scheme ", el("strong", {}, `${scheme}:`), ". Any program can claim this scheme: allow this only if you know which one has it here."]
  : ["You will be sent to ", el("strong", {}, host), "."]);
