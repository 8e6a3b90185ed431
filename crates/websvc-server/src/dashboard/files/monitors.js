// The monitors of the team: their list, and the pages below it.

import { request } from "./api.js";
import { check } from "./check.js";
import { badge, countText, el, empty, pager, replaceContent, showError, table } from "./dom.js";
import { refreshWhile } from "./live.js";
import { monitorPage } from "./monitor.js";
import { monitorActions } from "./monitor_actions.js";
import { editMonitor, newMonitor } from "./monitor_form.js";
import { describeSchedules, formatRelative, monitorPath, scheduleWords, statusBadge, summaryBadges, targetText, timeText } from "./monitor_text.js";

/** Monitors on a page of the list. */
const PAGE_SIZE = 25;

/** Targets that are listed for a monitor. */
const SHOWN_TARGETS = 2;

/** Shows the list, or the page that the rest of the path names. Returns a function that stops the refresh of the page. */
export function monitors(container, session, [id, part, checkId]) {
  if (!id) return list(container);
  if (id === "new") return newMonitor(container);
  if (part === "edit") return editMonitor(container, id);
  if (part === "checks" && checkId) return check(container, id, checkId);
  return monitorPage(container, id);
}

async function list(container) {
  const content = el("div");
  let [offset, isRunning, shown] = [0, false, null];
  const show = async () => {
    // One more than is shown tells whether there is a next page.
    const { data } = await request("GET", `/v2/monitor?limit=${PAGE_SIZE + 1}&offset=${offset}`);
    if (!data.length && offset) { offset = Math.max(0, offset - PAGE_SIZE); await show(); return; }
    const monitors = data.slice(0, PAGE_SIZE);
    isRunning = monitors.some(({ currentCheckId }) => currentCheckId);
    const current = JSON.stringify([offset, data]);
    if (current === shown) return;
    const described = await describeSchedules(monitors.map(({ schedule }) => schedule));
    shown = current;
    const goTo = (next) => { offset = next; show().catch((error) => showError(error.message)); };
    replaceContent(content, monitorTable(monitors, described, show), pager(offset, PAGE_SIZE, data.length > PAGE_SIZE, goTo, ["Newer monitors", "Older monitors"]));
  };
  container.append(
    el("p", { class: "lead" }, "A monitor checks pages, sites or searches by a schedule, and reports what changed."),
    el("p", {}, el("a", { class: "button main", href: "#/monitors/new" }, "New monitor")), content);
  await show();
  return refreshWhile(() => isRunning, show);
}

function monitorTable(monitors, described, onChange) {
  if (!monitors.length) return empty("No monitors yet. ", el("a", { href: "#/monitors/new" }, "Create the first one"), ", for example for the price of a product or the terms of a vendor.");
  return table("Monitors", ["Name", "Targets", "Schedule", "Next run", "Last result", "Status", "Actions"], monitors.map((monitor, index) => [
    el("a", { href: monitorPath(monitor.id), class: "name", "data-focus": `open ${monitor.id}` }, monitor.name),
    targetList(monitor.targets),
    scheduleWords(monitor.schedule, described[index]),
    timeText(monitor.nextRunAt, monitor.schedule.timezone, "-"),
    lastResult(monitor),
    statusBadge(monitor.status),
    monitorActions(monitor, onChange, onChange),
  ]), "");
}

function targetList(targets) {
  const rest = targets.length - SHOWN_TARGETS;
  return el("ul", { class: "plain targets" }, ...targets.slice(0, SHOWN_TARGETS).map((target) => el("li", { dir: "auto" }, targetText(target))), rest > 0 ? el("li", {}, `and ${countText(rest, "more target")}`) : null);
}

function lastResult(monitor) {
  if (monitor.currentCheckId) return el("a", { href: monitorPath(monitor.id, "checks", monitor.currentCheckId), "aria-label": `The check of ${monitor.name} in progress` }, badge("busy", "check in progress"));
  if (!monitor.lastCheckSummary) return "-";
  return el("div", {}, summaryBadges(monitor.lastCheckSummary), monitor.lastRunAt ? el("span", { class: "hint block" }, formatRelative(monitor.lastRunAt)) : null);
}
