// The API keys and invitations to them: creating, listing and revoking them.

import { request } from "./api.js";
import { confirmAction } from "./dialog.js";
import { badge, checkboxGroup, copyButton, el, field, formatTime, showError, showStatus, table } from "./dom.js";

/** Shows the page. */
export async function keys(container) {
  const list = el("div");
  const newKey = el("div", { "aria-live": "polite" });
  const show = async () => {
    const response = await request("GET", "/dashboard/keys");
    list.replaceChildren(table("Keys", ["Id", "Team", "Name", "Operations", "Created", "Last used", "Expires", "State", "Actions"],
      response.keys.map((key) => [el("code", {}, key.id), key.team, key.name || "-", operations(key), formatTime(key.createdAt), formatTime(key.lastUsedAt), key.expiresAt ? formatTime(key.expiresAt) : "never", state(key), key.revokedAt ? "" : revokeButton(key, show)]),
      "No keys"));
    return response;
  };
  const { scopes } = await show();
  container.append(keyForm(scopes, newKey, show), newKey, list);
}

function operations(key) {
  const scopes = key.scopes?.length ? key.scopes.join(", ") : "all operations";
  return key.admin ? `${scopes}, administration` : scopes;
}

function state(key) {
  if (key.revokedAt) return badge("bad", "revoked");
  if ([key.expiresAt, key.redeemUntil].some((time) => time && new Date(time) < new Date())) return badge("bad", "expired");
  if (key.redeemUntil) return badge("busy", `invited until ${formatTime(key.redeemUntil)}`);
  return badge("good", "valid");
}

function keyForm(scopes, newKey, onCreated) {
  const team = el("input", { type: "text", required: true, maxlength: 128, value: "default", autocomplete: "off" });
  const name = el("input", { type: "text", maxlength: 128, autocomplete: "off" });
  const expiry = el("select", {}, ...[["", "never"], ["30", "in 30 days"], ["90", "in 90 days"], ["365", "in a year"]].map(([value, text]) => el("option", { value }, text)));
  const invitation = el("select", {}, ...[["", "you, now"], ["1", "someone else, within a day"], ["7", "someone else, within a week"], ["30", "someone else, within 30 days"]].map(([value, text]) => el("option", { value }, text)));
  const rate = el("input", { type: "number", min: 0, max: 4_294_967_295, placeholder: "that of the team" });
  const scopeGroup = checkboxGroup("Operations", scopes, scopes);
  const admin = el("input", { type: "checkbox" });
  return el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    const checked = scopeGroup.read();
    const body = { team: team.value, name: name.value, admin: admin.checked };
    if (checked.length < scopes.length) body.scopes = checked;
    if (expiry.value) body.expiresInDays = Number(expiry.value);
    if (rate.value) body.requestsPerMinute = Number(rate.value);
    if (invitation.value) body.inviteForDays = Number(invitation.value);
    try {
      const key = await request("POST", "/dashboard/keys", body);
      const [heading, text, kind] = body.inviteForDays
        ? ["The invitation", "Send the link to one person or agent. The first one who redeems it gets the key. It is shown only once.", "invitation"]
        : ["Your new key", "Copy it now: it is shown only once.", "key"];
      const secret = key.link ?? key.secret;
      newKey.replaceChildren(el("div", { class: "card new" }, el("h2", {}, heading), el("p", {}, text), el("p", { class: "row" }, el("code", { class: "secret" }, secret), copyButton(() => secret, kind))));
      showStatus(kind === "key" ? `Key ${key.id} was created` : `Invitation ${key.id} was created`);
      name.value = "";
      admin.checked = false;
      await onCreated();
    } catch (error) {
      showError(error.message);
    }
  } }, el("h2", {}, "New key"),
  el("div", { class: "row" }, field("Team", team), field("Name", name, "Describes the use of the key."), field("Expires", expiry), field("Requests per minute", rate), field("For", invitation, "An invitation is a link with which its receiver gets the key.")),
  scopeGroup.group,
  field("Administrator", admin, "May sign in to this dashboard, create keys and edit teams."),
  el("button", { class: "main" }, "Create"));
}

/** Returns a button that revokes a key after a confirmation. */
function revokeButton(key, onRevoked) {
  return el("button", { type: "button", class: "danger small", "aria-label": `Revoke ${key.id}`, onclick: (event) => confirmAction(event.currentTarget, {
    title: `Revoke the ${key.redeemUntil ? "invitation" : "key"} ${key.id}?`,
    text: key.redeemUntil ? "Its link will give no key. This cannot be undone." : `Requests with this key (team ${key.team}${key.name ? `, ${key.name}` : ""}) will be rejected, and its sessions of this dashboard end. This cannot be undone.`,
    label: "Revoke",
    onConfirm: async () => {
      await request("DELETE", `/dashboard/keys/${encodeURIComponent(key.id)}`);
      await onRevoked();
      return `${key.redeemUntil ? "Invitation" : "Key"} ${key.id} was revoked`;
    },
  }) }, "Revoke");
}
