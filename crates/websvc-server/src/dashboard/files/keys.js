// The API keys: made, shown once, revoked.

import { ask } from "./api.js";
import { complain, copier, el, field, say, table, time } from "./dom.js";

/** Shows the page. */
export async function keys(place) {
  const shown = el("div");
  const made = el("div", { "aria-live": "polite" });
  const show = async () => {
    const { keys: rows } = await ask("GET", "/dashboard/keys");
    shown.replaceChildren(table("Keys", ["Id", "Team", "Name", "Rights", "Created", "Last used", "Expires", "State", "Actions"],
      rows.map((key) => [el("code", {}, key.id), key.team, key.name || "-", rights(key), time(key.createdAt), time(key.lastUsedAt), key.expiresAt ? time(key.expiresAt) : "never", state(key), key.revokedAt ? "" : revoker(key, show)]),
      "There are no keys yet."));
  };
  place.append(maker(made, show), made, shown);
  await show();
}

function rights(key) {
  if (key.admin) return "administration";
  return key.scopes?.length ? key.scopes.join(", ") : "all operations";
}

function state(key) {
  if (key.revokedAt) return el("span", { class: "bad" }, "revoked");
  if (key.expiresAt && new Date(key.expiresAt) < new Date()) return el("span", { class: "bad" }, "expired");
  return el("span", { class: "good" }, "valid");
}

function maker(made, show) {
  const team = el("input", { type: "text", required: true, maxlength: 128, value: "default" });
  const name = el("input", { type: "text", maxlength: 128 });
  return el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    try {
      const key = await ask("POST", "/dashboard/keys", { team: team.value, name: name.value });
      made.replaceChildren(el("div", { class: "card" }, el("p", {}, "The new key. It is shown this once:"), el("p", {}, el("code", { class: "secret" }, key.secret)), copier(() => key.secret, "key")));
      say(`Key ${key.id} was made`);
      name.value = "";
      await show();
    } catch (error) {
      complain(error.message);
    }
  } }, el("h2", {}, "A new key"), el("div", { class: "row" }, field("Team", team), field("Name", name), el("div", { class: "field" }, el("button", { class: "main" }, "Create"))));
}

/** Returns the button that asks whether a key is to be revoked. */
function revoker(key, show) {
  return el("button", { type: "button", class: "danger", "aria-label": `Revoke ${key.id}`, onclick: (event) => {
    const opener = event.currentTarget;
    const close = () => { dialog.close(); dialog.remove(); };
    const dialog = el("dialog", { "aria-labelledby": "revoke-title", onclose: () => { dialog.remove(); opener.focus(); } },
      el("h2", { id: "revoke-title" }, `Revoke the key ${key.id}?`),
      el("p", {}, `Whoever uses it (team ${key.team}${key.name ? `, ${key.name}` : ""}) is refused from now on. It cannot be taken back.`),
      el("button", { type: "button", class: "danger", onclick: async () => {
        try {
          await ask("DELETE", `/dashboard/keys/${encodeURIComponent(key.id)}`);
          close();
          say(`Key ${key.id} was revoked`);
          await show();
        } catch (error) {
          close();
          complain(error.message);
        }
      } }, "Revoke"), " ",
      el("button", { type: "button", onclick: close }, "Keep it"));
    document.body.append(dialog);
    dialog.showModal();
  } }, "Revoke");
}
