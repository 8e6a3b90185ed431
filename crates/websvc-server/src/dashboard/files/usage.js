// The usage by day and operation.

import { request } from "./api.js";
import { el, empty, field, formatCount, metrics, showError, svg, table } from "./dom.js";

const DAYS = [7, 30, 90];

/** The operations of the usage log, in the order of their colors, which never change. New ones are added at the end. */
const OPERATIONS = ["search", "scrape", "map", "crawl", "batch", "parse", "monitor", "agent", "extract", "browser"];

/** Shows the page. */
export async function usage(container) {
  const period = el("select", {}, ...DAYS.map((days) => el("option", { value: days }, `${days} days`)));
  period.value = "30";
  const measure = el("select", {}, el("option", { value: "credits" }, "Credits"), el("option", { value: "requests" }, "Requests"));
  const content = el("div");
  const show = async () => {
    const { teams, days } = await request("GET", `/dashboard/usage?days=${period.value}`);
    content.replaceChildren(totals(days, Number(period.value)), el("section", { class: "card", "aria-label": "By day" }, ...chart(days, Number(period.value), measure.value, content.clientWidth)), usageTable(days), budgets(teams));
  };
  const refresh = () => show().catch((error) => showError(error.message));
  period.addEventListener("change", refresh);
  measure.addEventListener("change", refresh);
  container.append(el("div", { class: "row pickers" }, field("Period", period), field("Measure", measure)), content);
  await show();
  // The chart is redrawn at the width of the page, so that its text keeps its size.
  let width = content.clientWidth;
  const observer = new ResizeObserver(() => {
    if (Math.abs(content.clientWidth - width) < 20) return;
    width = content.clientWidth;
    refresh();
  });
  observer.observe(content);
  return () => observer.disconnect();
}

function totals(rows, days) {
  const today = new Date().toISOString().slice(0, 10);
  const total = (selected, measure) => formatCount(sum(selected, measure));
  const rowsOfToday = rows.filter(({ day }) => day === today);
  return metrics([
    ["Requests", total(rows, "requests"), `in ${days} days`], ["Credits", total(rows, "credits"), `in ${days} days`],
    ["Requests today", total(rowsOfToday, "requests"), "UTC"], ["Credits today", total(rowsOfToday, "credits"), "UTC"],
  ]);
}

/** Returns the last days, today included, in the format of the service (UTC). */
function lastDays(count) {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => new Date(now - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10));
}

/** Returns a chart with a stacked bar for each day. The table below it has the same data. */
function chart(rows, dayCount, measure, containerWidth) {
  if (!rows.length) return [empty("No requests in this period")];
  const operations = [...new Set(rows.map((row) => row.operation))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const days = lastDays(dayCount).map((day) => ({ day, values: operations.map((operation) => sum(rows.filter((row) => row.day === day && row.operation === operation), measure)) }));
  const max = Math.max(1, ...days.map(({ values }) => values.reduce((total, value) => total + value, 0)));
  const [width, height, left, bottom] = [Math.max(280, containerWidth - 34), 230, 48, 24];
  const step = (width - left) / days.length;
  const bars = days.flatMap(({ day, values }, dayIndex) => {
    let top = height - bottom;
    return values.map((value, index) => {
      const barHeight = (value / max) * (height - bottom - 14);
      top -= barHeight;
      return svg("rect", { class: colorOf(operations[index]), x: left + dayIndex * step + 1, y: top, width: Math.max(1, step - 2), height: barHeight }, svg("title", {}, `${day}: ${operations[index]} ${formatCount(value)}`));
    });
  });
  const image = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${measure} by day; the table below has the data` },
    ...[0, 0.5, 1].flatMap((part) => {
      const y = height - bottom - part * (height - bottom - 14);
      const label = max * part;
      return [svg("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }), Number.isInteger(label) ? svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, formatCount(label)) : null];
    }),
    svg("text", { x: left, y: height - 6 }, days[0].day),
    svg("text", { x: width, y: height - 6, "text-anchor": "end" }, days.at(-1).day),
    ...bars);
  const legend = el("ul", { class: "legend" }, ...operations.map((operation) => el("li", {}, el("span", { class: `swatch ${colorOf(operation)}` }), operation)));
  return [image, legend];
}

/** Returns the place of an operation among all; unknown ones follow the known ones. */
const rank = (operation) => (OPERATIONS.includes(operation) ? OPERATIONS.indexOf(operation) : OPERATIONS.length);

const colorOf = (operation) => (OPERATIONS.includes(operation) ? `color-${rank(operation) + 1}` : "color-other");

const sum = (rows, measure) => rows.reduce((total, row) => total + row[measure], 0);

const usageTable = (rows) =>
  table("By day, team and operation", ["Day", "Team", "Operation", ["Requests", "number"], ["Credits", "number"]],
    rows.map((row) => [row.day, row.team, row.operation, formatCount(row.requests), formatCount(row.credits)]), "No requests in this period");

const budgets = (teams) =>
  table("Credits of the teams", ["Team", ["Remaining", "number"], ["Granted", "number"]],
    teams.map(({ team, remaining, planned }) => [team, remaining === null ? "unlimited" : formatCount(remaining), planned === null ? "unlimited" : formatCount(planned)]), "No teams");
