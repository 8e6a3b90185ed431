// The teams: permissions, limits and credits.

import { request } from "./api.js";
import { el, field, formatCount, showError, showStatus, table } from "./dom.js";

const CHOICES = {
  zdr: ["Zero data retention", ["off", "allowed", "forced"]],
  anon: ["Anonymized retention", ["off", "allowed", "forced"]],
  threatProtection: ["Threat protection", ["off", "on", "enforced"]],
  threatOverride: ["Threat protection overrides", ["allowed", "denied"]],
  audit: ["Audit events", ["off", "on"]],
  index: ["Index and cache", ["shared", "team", "off"]],
  robotsAgent: ["Other names for robots.txt", ["denied", "allowed"]],
};

const NUMBERS = {
  credits: ["Credits", "Empty: unlimited. A new value replaces the remaining credits."],
  requestsPerMinute: ["Requests per minute", "Empty: the configured default."],
  concurrency: ["Concurrent requests", "Empty: the configured default."],
};

/** Shows the page. */
export async function teams(container) {
  const list = el("div");
  const editor = el("div");
  const show = async () => {
    const { teams: rows } = await request("GET", "/dashboard/teams");
    const edit = (team) => { editor.replaceChildren(teamForm(team, show)); editor.querySelector("input:not([readonly]), select").focus(); };
    list.replaceChildren(table("Teams", ["Name", ...Object.values(CHOICES).map(([title]) => title), ...Object.values(NUMBERS).map(([title]) => [title, "number"]), "Actions"],
      rows.map((team) => [team.name, ...Object.keys(CHOICES).map((name) => team[name]), ...Object.keys(NUMBERS).map((name) => formatLimit(name, team[name])),
        el("button", { type: "button", class: "small", "aria-label": `Edit ${team.name}`, onclick: () => edit(team) }, "Edit")]),
      "No teams"));
  };
  const create = el("button", { type: "button", class: "main", onclick: () => { editor.replaceChildren(teamForm({}, show)); editor.querySelector("input").focus(); } }, "New team");
  container.append(list, el("p", {}, create), editor);
  await show();
}

function formatLimit(name, value) {
  if (value !== null && value !== undefined) return formatCount(value);
  return name === "credits" ? "unlimited" : "default";
}

function teamForm(team, onSaved) {
  const name = el("input", { type: "text", required: true, maxlength: 128, value: team.name ?? "" });
  if (team.name) name.readOnly = true;
  const selects = Object.entries(CHOICES).map(([key, [title, values]]) => {
    const input = el("select", {}, ...values.map((value) => el("option", { value }, value)));
    input.value = team[key] ?? values[0];
    return [key, field(title, input), () => input.value];
  });
  const numbers = Object.entries(NUMBERS).map(([key, [title, hint]]) => {
    const input = el("input", { type: "number", min: 0, step: 1, value: team[key] ?? "" });
    return [key, field(title, input, hint), () => (input.value === "" ? null : Number(input.value))];
  });
  const fields = [...selects, ...numbers];
  return el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    // Only changed values are sent: unchanged credits would restore the credits that were used.
    const change = Object.fromEntries(fields.map(([key, , read]) => [key, read()]).filter(([key, value]) => value !== (team[key] ?? (key in NUMBERS ? null : undefined))));
    try {
      await request("PUT", "/dashboard/teams", { ...change, name: name.value });
      event.target.remove();
      document.getElementById("main").focus();
      showStatus(`Team ${name.value} was saved`);
      await onSaved();
    } catch (error) {
      showError(error.message);
    }
  } }, el("h2", {}, team.name ? `Edit ${team.name}` : "New team"), el("div", { class: "grid" }, field("Name", name), ...fields.map(([, element]) => element)),
  el("div", { class: "buttons" }, el("button", { class: "main" }, "Save"), el("button", { type: "button", onclick: (event) => { event.target.closest("form").remove(); document.getElementById("main").focus(); } }, "Cancel")));
}
