// What was asked for, by day and operation.

import { ask } from "./api.js";
import { complain, count, el, empty, field, figures, svg, table } from "./dom.js";

const DAYS = [7, 30, 90];

/** Shows the page. */
export async function usage(place) {
  const chosen = el("select", {}, ...DAYS.map((days) => el("option", { value: days }, `${days} days`)));
  chosen.value = "30";
  const measure = el("select", {}, el("option", { value: "credits" }, "Credits"), el("option", { value: "requests" }, "Requests"));
  const shown = el("div");
  const show = async () => {
    const { teams, days } = await ask("GET", `/dashboard/usage?days=${chosen.value}`);
    shown.replaceChildren(sums(days, Number(chosen.value)), el("section", { class: "card", "aria-label": "By day" }, ...chart(days, Number(chosen.value), measure.value, shown.clientWidth)), byDay(days), budgets(teams));
  };
  const again = () => show().catch((error) => complain(error.message));
  chosen.addEventListener("change", again);
  measure.addEventListener("change", again);
  place.append(el("div", { class: "row pickers" }, field("Time", chosen), field("Measure", measure)), shown);
  await show();
  // The drawing has the width of the page, so that its texts keep their size.
  let width = shown.clientWidth;
  const turned = new ResizeObserver(() => {
    if (Math.abs(shown.clientWidth - width) < 20) return;
    width = shown.clientWidth;
    again();
  });
  turned.observe(shown);
  return () => turned.disconnect();
}

function sums(rows, days) {
  const today = new Date().toISOString().slice(0, 10);
  const of = (which, what) => count(sum(which, what));
  const now = rows.filter(({ day }) => day === today);
  return figures([
    ["Requests", of(rows, "requests"), `in ${days} days`], ["Credits", of(rows, "credits"), `in ${days} days`],
    ["Requests today", of(now, "requests"), "UTC"], ["Credits today", of(now, "credits"), "UTC"],
  ]);
}

/** Returns the days up to today, as the service names them (UTC). */
function calendar(count) {
  const today = Date.now();
  return Array.from({ length: count }, (_, at) => new Date(today - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10));
}

/** Returns stacked bars, one for each day. What they show is in the table below, too. */
function chart(rows, number, measure, place) {
  if (!rows.length) return [empty("Nothing was asked for in this time.")];
  const operations = [...new Set(rows.map((row) => row.operation))].sort();
  const days = calendar(number).map((day) => ({ day, parts: operations.map((operation) => sum(rows.filter((row) => row.day === day && row.operation === operation), measure)) }));
  const highest = Math.max(1, ...days.map(({ parts }) => parts.reduce((total, part) => total + part, 0)));
  const [width, height, left, bottom] = [Math.max(280, place - 34), 230, 48, 24];
  const step = (width - left) / days.length;
  const bars = days.flatMap(({ day, parts }, at) => {
    let top = height - bottom;
    return parts.map((part, kind) => {
      const tall = (part / highest) * (height - bottom - 14);
      top -= tall;
      return svg("rect", { class: `bar-${(kind % 4) + 1}`, x: left + at * step + 1, y: top, width: Math.max(1, step - 2), height: tall }, svg("title", {}, `${day}: ${operations[kind]} ${count(part)}`));
    });
  });
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${measure} by day; the table below has the figures` },
    ...[0, 0.5, 1].flatMap((part) => {
      const y = height - bottom - part * (height - bottom - 14);
      const label = highest * part;
      return [svg("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }), Number.isInteger(label) ? svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, count(label)) : null];
    }),
    svg("text", { x: left, y: height - 6 }, days[0].day),
    svg("text", { x: width, y: height - 6, "text-anchor": "end" }, days.at(-1).day),
    ...bars);
  const legend = el("ul", { class: "legend" }, ...operations.map((operation, kind) => el("li", {}, el("span", { class: `swatch bar-${(kind % 4) + 1}` }), operation)));
  return [drawing, legend];
}

const sum = (rows, measure) => rows.reduce((total, row) => total + row[measure], 0);

const byDay = (rows) =>
  table("By day, team and operation", ["Day", "Team", "Operation", ["Requests", "number"], ["Credits", "number"]],
    rows.map((row) => [row.day, row.team, row.operation, count(row.requests), count(row.credits)]), "Nothing was asked for in this time.");

const budgets = (teams) =>
  table("Credits of the teams", ["Team", ["Left", "number"], ["Granted", "number"]],
    teams.map(({ team, remaining, planned }) => [team, remaining === null ? "unlimited" : count(remaining), planned === null ? "unlimited" : count(planned)]), "There are no teams.");
