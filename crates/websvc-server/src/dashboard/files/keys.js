// The API keys: made, shown once, revoked.

import { ask } from "./api.js";
import { badge, choices, complain, copier, el, field, say, table, time } from "./dom.js";

/** Shows the page. */
export async function keys(place) {
  const shown = el("div");
  const made = el("div", { "aria-live": "polite" });
  const show = async () => {
    const found = await ask("GET", "/dashboard/keys");
    shown.replaceChildren(table("Keys", ["Id", "Team", "Name", "May be used for", "Created", "Last used", "Expires", "State", "Actions"],
      found.keys.map((key) => [el("code", {}, key.id), key.team, key.name || "-", rights(key), time(key.createdAt), time(key.lastUsedAt), key.expiresAt ? time(key.expiresAt) : "never", state(key), key.revokedAt ? "" : revoker(key, show)]),
      "There are no keys yet."));
    return found;
  };
  const { scopes } = await show();
  place.append(maker(scopes, made, show), made, shown);
}

function rights(key) {
  const operations = key.scopes?.length ? key.scopes.join(", ") : "all operations";
  return key.admin ? `${operations}, administration` : operations;
}

function state(key) {
  if (key.revokedAt) return badge("bad", "revoked");
  if (key.expiresAt && new Date(key.expiresAt) < new Date()) return badge("bad", "expired");
  return badge("good", "valid");
}

function maker(scopes, made, show) {
  const team = el("input", { type: "text", required: true, maxlength: 128, value: "default", autocomplete: "off" });
  const name = el("input", { type: "text", maxlength: 128, autocomplete: "off" });
  const expiry = el("select", {}, ...[["", "never"], ["30", "in 30 days"], ["90", "in 90 days"], ["365", "in a year"]].map(([value, text]) => el("option", { value }, text)));
  const operations = choices("May be used for", scopes, scopes);
  const admin = el("input", { type: "checkbox" });
  return el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    const chosen = operations.read();
    const wanted = { team: team.value, name: name.value, admin: admin.checked };
    if (chosen.length < scopes.length) wanted.scopes = chosen;
    if (expiry.value) wanted.expiresInDays = Number(expiry.value);
    try {
      const key = await ask("POST", "/dashboard/keys", wanted);
      made.replaceChildren(el("div", { class: "card new" }, el("h2", {}, "The new key"), el("p", {}, "Copy it now: it is shown this once."), el("p", { class: "row" }, el("code", { class: "secret" }, key.secret), copier(() => key.secret, "key"))));
      say(`Key ${key.id} was made`);
      name.value = "";
      admin.checked = false;
      await show();
    } catch (error) {
      complain(error.message);
    }
  } }, el("h2", {}, "A new key"),
  el("div", { class: "row" }, field("Team", team), field("Name", name, "What it is for."), field("Expires", expiry)),
  operations.group,
  field("Administers this installation", admin, "Signs in here, makes keys and changes teams."),
  el("button", { class: "main" }, "Create"));
}

/** Returns the button that asks whether a key is to be revoked. */
function revoker(key, show) {
  return el("button", { type: "button", class: "danger small", "aria-label": `Revoke ${key.id}`, onclick: (event) => {
    const opener = event.currentTarget;
    const back = () => { dialog.remove(); (opener.isConnected ? opener : document.getElementById("main")).focus(); };
    const dialog = el("dialog", { "aria-labelledby": "revoke-title", "aria-describedby": "revoke-text", onclose: back },
      el("h2", { id: "revoke-title" }, `Revoke the key ${key.id}?`),
      el("p", { id: "revoke-text" }, `Whoever uses it (team ${key.team}${key.name ? `, ${key.name}` : ""}) is refused from now on, sessions of this page too. It cannot be taken back.`),
      el("div", { class: "buttons" },
        el("button", { type: "button", onclick: () => dialog.close() }, "Keep it"),
        el("button", { type: "button", class: "danger", onclick: async () => {
          try {
            await ask("DELETE", `/dashboard/keys/${encodeURIComponent(key.id)}`);
            await show();
            dialog.close();
            say(`Key ${key.id} was revoked`);
          } catch (error) {
            dialog.close();
            complain(error.message);
          }
        } }, "Revoke")));
    document.body.append(dialog);
    dialog.showModal();
  } }, "Revoke");
}
