// The teams: what they may do, how much, and what it may cost.

import { ask } from "./api.js";
import { complain, count, el, field, say, table } from "./dom.js";

const CHOICES = {
  zdr: ["Zero data retention", ["off", "allowed", "forced"]],
  anon: ["Anonymized retention", ["off", "allowed", "forced"]],
  threatProtection: ["Threat protection", ["off", "on", "enforced"]],
  threatOverride: ["Own threat settings", ["allowed", "denied"]],
  audit: ["Audit events", ["off", "on"]],
  index: ["Index and cache", ["shared", "team", "off"]],
};

const NUMBERS = {
  credits: ["Credits", "Empty: unlimited. Setting them sets what is left."],
  requestsPerMinute: ["Requests per minute", "Empty: the default of the configuration."],
  concurrency: ["Requests at a time", "Empty: the default of the configuration."],
};

/** Shows the page. */
export async function teams(place) {
  const shown = el("div");
  const edited = el("div");
  const show = async () => {
    const { teams: rows } = await ask("GET", "/dashboard/teams");
    const edit = (team) => { edited.replaceChildren(editor(team, show)); edited.querySelector("input:not([readonly]), select").focus(); };
    shown.replaceChildren(table("Teams", ["Name", ...Object.values(CHOICES).map(([title]) => title), ...Object.values(NUMBERS).map(([title]) => [title, "number"]), "Actions"],
      rows.map((team) => [team.name, ...Object.keys(CHOICES).map((name) => team[name]), ...Object.keys(NUMBERS).map((name) => number(name, team[name])),
        el("button", { type: "button", class: "small", "aria-label": `Change ${team.name}`, onclick: () => edit(team) }, "Change")]),
      "There are no teams yet."));
  };
  const fresh = el("button", { type: "button", class: "main", onclick: () => { edited.replaceChildren(editor({}, show)); edited.querySelector("input").focus(); } }, "A new team");
  place.append(shown, el("p", {}, fresh), edited);
  await show();
}

function number(name, value) {
  if (value !== null && value !== undefined) return count(value);
  return name === "credits" ? "unlimited" : "default";
}

function editor(team, show) {
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
  const all = [...selects, ...numbers];
  return el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    // Only what was changed is sent: to send the credits anew would give back what was spent.
    const change = Object.fromEntries(all.map(([key, , read]) => [key, read()]).filter(([key, value]) => value !== (team[key] ?? (key in NUMBERS ? null : undefined))));
    try {
      await ask("PUT", "/dashboard/teams", { ...change, name: name.value });
      event.target.remove();
      document.getElementById("main").focus();
      say(`Team ${name.value} was saved`);
      await show();
    } catch (error) {
      complain(error.message);
    }
  } }, el("h2", {}, team.name ? `Change ${team.name}` : "A new team"), el("div", { class: "grid" }, field("Name", name), ...all.map(([, part]) => part)),
  el("div", { class: "buttons" }, el("button", { class: "main" }, "Save"), el("button", { type: "button", onclick: (event) => { event.target.closest("form").remove(); document.getElementById("main").focus(); } }, "Cancel")));
}
