// The last requests, with their timing by stage.

import { request } from "./api.js";
import { badge, el, formatCount, formatTime, svg, table } from "./dom.js";
import { autoRefresh } from "./live.js";

/** Shows the page, and returns a function that stops its refresh. */
export async function requests(container) {
  const content = el("div");
  let newestId = null;
  const show = async () => {
    const { requests: rows } = await request("GET", "/dashboard/requests?limit=100");
    // Without new requests nothing is replaced, so that the keyboard focus and the scroll position stay.
    if (newestId !== null && newestId === (rows[0]?.id ?? "")) return;
    newestId = rows[0]?.id ?? "";
    const openIds = new Set([...content.querySelectorAll("details[open]")].map((details) => details.dataset.id));
    content.replaceChildren(table("The last 100 requests", ["Time", "Operation", "Query", "Team", "Status", "Timing by stage", ["Credits", "number"], "Id"],
      rows.map((row) => [formatTime(row.at), row.operation, row.query ?? "-", row.team ?? "-", badge(row.status < 400 ? "good" : "bad", String(row.status)), timing(row, openIds.has(row.id)), credits(row), el("code", { class: "id" }, row.id)]),
      "No requests, or none that may be stored"));
  };
  const { element, stop } = autoRefresh(show, 5000, false);
  container.append(el("p", { class: "lead" }, "Requests with zero data retention or lockdown and anonymous requests are not listed."), element, content);
  await show();
  return stop;
}

/** The stages of a request have different colors, as long as there are not more of them than colors. */
const colorOf = (index) => `color-${(index % 10) + 1}`;

const formatMs = (us) => `${(us / 1000).toFixed(1)} ms`;

/** Returns the duration of a request, which opens to the durations of its stages. */
function timing({ id, elapsedUs, stages }, open) {
  const entries = Object.entries(stages ?? {});
  if (!entries.length) return formatMs(elapsedUs);
  const total = Math.max(elapsedUs, entries.reduce((sum, [, us]) => sum + us, 0), 1);
  let x = 0;
  const bars = entries.map(([, us], index) => {
    const width = (us / total) * 120;
    const bar = svg("rect", { class: colorOf(index), x, y: 0, width, height: 10 });
    x += width;
    return bar;
  });
  const image = svg("svg", { class: "stages", viewBox: "0 0 120 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "rest", x: 0, y: 0, width: 120, height: 10 }), ...bars);
  return el("details", { "data-id": id, open }, el("summary", {}, formatMs(elapsedUs), image),
    el("ol", { class: "plain" }, ...entries.map(([stage, us], index) => el("li", {}, el("span", { class: `swatch ${colorOf(index)}` }), `${stage} ${formatMs(us)}`))));
}

/** Returns the credits of a request, which open to their items. */
function credits({ credits: total, items }) {
  if (!items?.length) return formatCount(total);
  return el("details", {}, el("summary", {}, formatCount(total)), el("ul", { class: "plain" }, ...items.map((item) => el("li", {}, `${item.count} x ${item.item}: ${item.credits}`))));
}
