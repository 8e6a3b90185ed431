// The requests of late, with the time that each stage took.

import { ask } from "./api.js";
import { badge, count, el, svg, table, time } from "./dom.js";
import { renewal } from "./live.js";

/** Shows the page, and keeps it fresh until it is left. */
export async function requests(place) {
  const shown = el("div");
  let newest = null;
  const show = async () => {
    const { requests: rows } = await ask("GET", "/dashboard/requests?limit=100");
    // What somebody has opened stays open until there is something new.
    if (newest !== null && newest === (rows[0]?.id ?? "")) return;
    newest = rows[0]?.id ?? "";
    const open = new Set([...shown.querySelectorAll("details[open]")].map((one) => one.dataset.id));
    shown.replaceChildren(table("The last 100 requests", ["When", "Operation", "Asked for", "Team", "Status", "Time and its stages", ["Credits", "number"], "Id"],
      rows.map((row) => [time(row.at), row.operation, row.query ?? "-", row.team ?? "-", badge(row.status < 400 ? "good" : "bad", String(row.status)), stages(row, open.has(row.id)), credits(row), el("code", { class: "id" }, row.id)]),
      "No request was made yet, or none that is kept."));
  };
  const { element, end } = renewal(show, 5000, false);
  place.append(el("p", { class: "lead" }, "Requests under zero data retention, lockdown or without a name are not here."), element, shown);
  await show();
  return end;
}

const ms = (us) => `${(us / 1000).toFixed(1)} ms`;

/** Returns how long a request took; opened, how long each of its stages. */
function stages({ id, elapsedUs, stages: all }, open) {
  const parts = Object.entries(all ?? {});
  if (!parts.length) return ms(elapsedUs);
  const whole = Math.max(elapsedUs, parts.reduce((sum, [, us]) => sum + us, 0), 1);
  let x = 0;
  const bars = parts.map(([, us], at) => {
    const width = (us / whole) * 120;
    const bar = svg("rect", { class: `bar-${(at % 4) + 1}`, x, y: 0, width, height: 10 });
    x += width;
    return bar;
  });
  const drawing = svg("svg", { class: "stages", viewBox: "0 0 120 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "rest", x: 0, y: 0, width: 120, height: 10 }), ...bars);
  return el("details", { "data-id": id, open }, el("summary", {}, ms(elapsedUs), drawing),
    el("ol", { class: "plain" }, ...parts.map(([stage, us], at) => el("li", {}, el("span", { class: `swatch bar-${(at % 4) + 1}` }), `${stage} ${ms(us)}`))));
}

/** Returns what a request cost; opened, what for. */
function credits({ credits: sum, items }) {
  if (!items?.length) return count(sum);
  return el("details", {}, el("summary", {}, count(sum)), el("ul", { class: "plain" }, ...items.map((item) => el("li", {}, `${item.count} x ${item.item}: ${item.credits}`))));
}
