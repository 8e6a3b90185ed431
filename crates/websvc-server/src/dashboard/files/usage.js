// What was asked for, by day and operation.

import { ask } from "./api.js";
import { el, field, svg, table } from "./dom.js";

const DAYS = [7, 30, 90];

/** Shows the page. */
export async function usage(place) {
  const chosen = el("select", {}, ...DAYS.map((days) => el("option", { value: days }, `${days} days`)));
  chosen.value = "30";
  const measure = el("select", {}, el("option", { value: "credits" }, "Credits"), el("option", { value: "requests" }, "Requests"));
  const shown = el("div");
  const show = async () => {
    const { teams, days } = await ask("GET", `/dashboard/usage?days=${chosen.value}`);
    shown.replaceChildren(...chart(days, Number(chosen.value), measure.value), byDay(days), budgets(teams));
  };
  chosen.addEventListener("change", show);
  measure.addEventListener("change", show);
  place.append(el("div", { class: "row" }, field("Time", chosen), field("Measure", measure)), shown);
  await show();
}

/** Returns the days up to today, as the service names them (UTC). */
function calendar(count) {
  const today = Date.now();
  return Array.from({ length: count }, (_, at) => new Date(today - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10));
}

/** Returns stacked bars, one for each day. What they show is in the table below, too. */
function chart(rows, count, measure) {
  const operations = [...new Set(rows.map((row) => row.operation))].sort();
  const days = calendar(count).map((day) => ({ day, parts: operations.map((operation) => sum(rows.filter((row) => row.day === day && row.operation === operation), measure)) }));
  const highest = Math.max(1, ...days.map(({ parts }) => parts.reduce((total, part) => total + part, 0)));
  const [width, height, left, bottom] = [760, 230, 48, 24];
  const step = (width - left) / days.length;
  const bars = days.flatMap(({ parts }, at) => {
    let top = height - bottom;
    return parts.map((part, kind) => {
      const tall = (part / highest) * (height - bottom - 14);
      top -= tall;
      return svg("rect", { class: `bar-${(kind % 4) + 1}`, x: left + at * step + 1, y: top, width: Math.max(1, step - 2), height: tall });
    });
  });
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${measure} by day; the table below has the figures` },
    svg("line", { class: "axis", x1: left, x2: width, y1: height - bottom, y2: height - bottom }),
    svg("text", { x: left - 6, y: 14, "text-anchor": "end" }, String(highest)),
    svg("text", { x: left - 6, y: height - bottom, "text-anchor": "end" }, "0"),
    svg("text", { x: left, y: height - 6 }, days[0].day),
    svg("text", { x: width, y: height - 6, "text-anchor": "end" }, days.at(-1).day),
    ...bars);
  const legend = el("ul", { class: "legend" }, ...operations.map((operation, kind) => el("li", {}, el("span", { class: `swatch bar-${(kind % 4) + 1}` }), operation)));
  return [drawing, legend];
}

const sum = (rows, measure) => rows.reduce((total, row) => total + row[measure], 0);

const byDay = (rows) =>
  table("By day, team and operation", ["Day", "Team", "Operation", ["Requests", "number"], ["Credits", "number"]],
    rows.map((row) => [row.day, row.team, row.operation, String(row.requests), String(row.credits)]), "Nothing was asked for in this time.");

const budgets = (teams) =>
  table("Credits of the teams", ["Team", ["Left", "number"], ["Granted", "number"]],
    teams.map(({ team, remaining, planned }) => [team, remaining === null ? "unlimited" : String(remaining), planned === null ? "unlimited" : String(planned)]), "There are no teams.");
