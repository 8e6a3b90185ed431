// One monitor: its settings and the history of its checks.

import { request } from "./api.js";
import { badge, boundedText, copyButton, countText, el, empty, formatCount, formatTime, link, metrics, pager, properties, replaceContent, setNotice, showError, svg, table } from "./dom.js";
import { refreshWhile } from "./live.js";
import { monitorActions } from "./monitor_actions.js";
import { PAGE_STATUSES, apiPath, describeSchedules, elapsedText, formatRelative, formatZoned, isInProgress, monitorPath, notificationBadges, scheduleWords, setHeading, statusBadge, summaryBadges, summaryText, withoutSecrets } from "./monitor_text.js";

/** Checks on a page of the history. */
const PAGE_SIZE = 25;

/** Pages or queries of a target that are listed. */
const SHOWN_ITEMS = 10;

/** Shows the page, and returns a function that stops its refresh. */
export async function monitorPage(container, id) {
  const [overview, settings, history] = [el("div", { class: "compact" }), el("section", { class: "card", "aria-label": "Settings" }), el("section", { "aria-label": "Checks" })];
  let [offset, runningId, shown] = [0, null, null];
  const show = async () => {
    const [{ data: monitor }, { data: checks }] = await Promise.all([
      request("GET", apiPath(id)), request("GET", `${apiPath(id)}/checks?limit=${PAGE_SIZE + 1}&offset=${offset}`)]);
    runningId = monitor.currentCheckId;
    const current = JSON.stringify([offset, monitor, checks]);
    if (current === shown) return monitor;
    const [described] = await describeSchedules([monitor.schedule]);
    shown = current;
    const onDelete = () => { setNotice(`Monitor ${monitor.name} was deleted`); location.hash = "#/monitors"; };
    replaceContent(overview, monitorActions(monitor, show, onDelete), overviewMetrics(monitor));
    replaceContent(settings, el("h2", {}, "Settings"), settingList(monitor, described));
    const goTo = (next) => { offset = next; show().catch((error) => showError(error.message)); };
    replaceContent(history, el("h2", {}, "Checks"), ...checkHistory(monitor, checks, offset, goTo));
    return monitor;
  };
  const { name } = await show();
  setHeading(container, name, [["Monitors", "#/monitors"]]);
  container.append(overview, history, settings);
  return refreshWhile(() => runningId, async () => {
    const { data: monitor } = await request("GET", apiPath(id));
    if (monitor.currentCheckId !== runningId) await show();
  });
}

function overviewMetrics(monitor) {
  const { nextRunAt, lastRunAt, lastCheckSummary, schedule: { timezone }, estimatedCreditsPerMonth } = monitor;
  const state = monitor.currentCheckId ? el("a", { href: monitorPath(monitor.id, "checks", monitor.currentCheckId) }, badge("busy", "check in progress")) : statusBadge(monitor.status);
  return metrics([
    ["Status", state],
    ["Next run", nextRunAt ? formatRelative(nextRunAt) : "none", nextRunAt ? formatZoned(nextRunAt, timezone) : "the monitor is paused"],
    ["Last run", lastRunAt ? formatRelative(lastRunAt) : "never", lastRunAt ? formatZoned(lastRunAt, timezone) : null],
    ["Last result", lastCheckSummary ? summaryBadges(lastCheckSummary) : "none"],
    ["Credits", estimatedCreditsPerMonth === null ? "unknown" : `about ${formatCount(estimatedCreditsPerMonth)}`, "in 30 days"],
  ]);
}

function settingList(monitor, described) {
  const { schedule, goal, judgeEnabled, webhook, notification, retentionDays, feedUrl } = monitor;
  const runs = monitor.status === "active" ? described?.nextRuns ?? [] : [];
  return properties([
    ["Targets", el("ul", { class: "plain targets" }, ...monitor.targets.map(targetItem))],
    ["Schedule", el("span", {}, scheduleWords(schedule, described), " ", el("code", {}, schedule.cron))],
    ["Next three runs", runs.length ? el("ol", { class: "plain" }, ...runs.map((run) => el("li", {}, formatZoned(run, schedule.timezone), el("span", { class: "hint" }, ` ${formatRelative(run)}`)))) : monitor.status === "paused" ? "none: the monitor is paused" : "unknown"],
    ["Goal", goal ? el("span", {}, ...boundedText(goal, 500), judgeEnabled ? null : el("span", { class: "hint" }, " (changes are not judged)")) : "none: changes are not judged"],
    ["Webhook", webhook ? el("span", {}, withoutSecrets(webhook.url), el("span", { class: "hint block" }, (webhook.events ?? []).join(", "))) : "none"],
    ["Email", emailText(notification?.email, monitor.emailRecipientSubscriptions ?? [])],
    ["Slack", notification?.slack?.enabled ? notification.slack.channelName ?? "on" : "off"],
    ["Channels", notification?.channels?.length ? notification.channels.map(({ url }) => url.split("://")[0]).join(", ") : "none"],
    ["Feed", feedUrl ? el("span", { class: "badges" }, link(feedUrl, "Atom feed"), copyButton(() => new URL(feedUrl, location.href).href, "feed URL"), el("span", { class: "hint" }, "works without a key: keep its URL private")) : undefined],
    ["Retention", countText(retentionDays, "day")],
    ["Created", formatTime(monitor.createdAt)],
    ["Changed", formatTime(monitor.updatedAt)],
    ["Id", el("code", {}, monitor.id)],
  ]);
}

function targetItem(target) {
  const [kind, items] = target.type === "scrape" ? ["page", target.urls] : target.type === "crawl" ? ["site", [target.url]] : ["search", target.queries];
  const rest = items.length - SHOWN_ITEMS;
  const shown = items.slice(0, SHOWN_ITEMS).map((item) => el("li", { dir: "auto" }, el("span", { class: "hint" }, `${kind} `), target.type === "search" ? item : link(item)));
  return el("li", {}, el("ul", { class: "plain" }, ...shown, rest > 0 ? el("li", {}, `and ${formatCount(rest)} more`) : null));
}

function emailText(email, subscriptions) {
  if (!email?.enabled) return "off";
  const statusOf = new Map(subscriptions.map(({ email: address, status }) => [address, status]));
  const addresses = email.recipients?.length ? email.recipients : subscriptions.map(({ email: address }) => address);
  if (!addresses.length) return "no recipients, nothing is sent";
  return el("ul", { class: "plain" }, ...addresses.map((address) => el("li", { dir: "auto" }, address, statusOf.has(address) ? el("span", { class: "hint" }, ` ${statusOf.get(address).replaceAll("_", " ")}`) : null)));
}

/** Returns the checks, newest first, as a strip and a table. */
function checkHistory(monitor, checks, offset, goTo) {
  const page = checks.slice(0, PAGE_SIZE);
  if (!page.length) return [empty("No checks yet. The first one finds all pages new; later ones report changes.")];
  const rows = page.map((item) => [
    el("a", { href: monitorPath(monitor.id, "checks", item.id), "data-focus": `check ${item.id}` }, formatTime(item.startedAt ?? item.createdAt)),
    item.trigger, statusBadge(item.status),
    item.startedAt && item.finishedAt ? elapsedText(item.startedAt, item.finishedAt) : "-",
    item.error ? el("span", {}, summaryBadges(item.summary), el("span", { class: "hint block" }, ...boundedText(item.error, 200))) : summaryBadges(item.summary),
    item.actualCredits === null ? "-" : formatCount(item.actualCredits),
    notificationBadges(item.notificationStatus),
  ]);
  return [el("div", { class: "card" }, strip(page), legend()),
    table("History of the checks", ["Started", "Trigger", "Status", ["Duration", "number"], "Result", ["Credits", "number"], "Notifications"], rows, ""), pager(offset, PAGE_SIZE, checks.length > PAGE_SIZE, goTo, ["Newer checks", "Older checks"])];
}

/** Returns a strip with a bar for each check, the oldest first, divided by the statuses of its pages. The table has the same data. */
function strip(checks) {
  const [step, height, gap] = [28, 40, 4];
  const bars = [...checks].reverse().flatMap((item, index) => {
    const x = index * step;
    const title = svg("title", {}, `${formatTime(item.startedAt ?? item.createdAt)}: ${item.status.replaceAll("_", " ")}, ${summaryText(item.summary)}`);
    const total = PAGE_STATUSES.reduce((sum, status) => sum + item.summary[status], 0);
    if (!total) return [svg("rect", { class: `part ${isInProgress(item) ? "waiting" : item.status === "failed" ? "error" : "skipped"}`, x: x + 0.5, y: 0.5, width: step - gap - 1, height: height - 1, rx: 3 }, title)];
    let y = height;
    return [...PAGE_STATUSES].reverse().filter((status) => item.summary[status]).map((status) => {
      // A change among many pages must be visible.
      const part = Math.max(6, (item.summary[status] / total) * height);
      y -= part;
      return svg("rect", { class: `part ${status}`, x, y: Math.max(0, y), width: step - gap, height: part }, title.cloneNode(true));
    });
  });
  return svg("svg", { class: "strip", viewBox: `0 0 ${checks.length * step - gap} ${height}`, width: checks.length * step - gap, height, role: "img", "aria-label": `${countText(checks.length, "check")}, the oldest first; the table below has the data` }, ...bars);
}

const legend = () => el("ul", { class: "legend" }, ...[...PAGE_STATUSES, "skipped"].map((status) => el("li", {}, svg("svg", { class: "swatch", viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("rect", { class: `part ${status}`, x: 0.5, y: 0.5, width: 11, height: 11, rx: 2 })), status)));
