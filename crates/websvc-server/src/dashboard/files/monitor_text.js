// Monitors and checks in words: schedules, times, results and notifications.

import { request } from "./api.js";
import { badge, countText, el, formatCount } from "./dom.js";

/** Statuses of pages in the order in which results name them, the changes first. */
export const PAGE_STATUSES = ["changed", "new", "removed", "error", "same"];

const STATUS_KINDS = {
  active: "good", paused: "plain", deleted: "plain",
  queued: "busy", running: "busy", completed: "good", partial: "warn", failed: "bad", skipped_overlap: "plain", skipped_no_credits: "bad",
  changed: "busy", new: "good", removed: "warn", error: "bad", same: "plain",
};

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Units of relative times: the name, the length in seconds, and the smallest distance in the unit. Below two days, hours tell more. */
const UNITS = [["day", 86_400, 172_800], ["hour", 3600, 3600], ["minute", 60, 60], ["second", 1, 0]];

/** Returns a status of a monitor, a check or a page. */
export const statusBadge = (status) => badge(STATUS_KINDS[status] ?? "plain", status.replaceAll("_", " "));

/** Returns whether a check is in progress. */
export const isInProgress = (check) => check.status === "queued" || check.status === "running";

/** Returns the URL of a page of the dashboard. */
export const monitorPath = (id, ...parts) => ["#/monitors", id, ...parts].map((part, index) => (index ? encodeURIComponent(part) : part)).join("/");

/** Returns the path of the operations on a monitor. */
export const apiPath = (id) => `/v2/monitor/${encodeURIComponent(id)}`;

/** Returns schedules in words with their next runs. An entry is null if the service does not know the schedule. */
export async function describeSchedules(schedules) {
  if (!schedules.length) return [];
  const items = schedules.map(({ cron, timezone }) => ({ cron, timezone }));
  return (await request("POST", "/dashboard/monitor/schedules", { schedules: items })).schedules;
}

/** Returns a schedule in words, or its cron expression. */
export const scheduleWords = (schedule, described) => described?.words ?? `${schedule.cron} (${schedule.timezone})`;

/** Returns a time such as "in 5 minutes". */
export function formatRelative(time) {
  const seconds = Math.round((new Date(time) - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, , smallest]) => Math.abs(seconds) >= smallest);
  return RELATIVE.format(Math.round(seconds / size), unit);
}

/** Returns a time in a time zone; in that of the browser if it does not know the zone. */
export function formatZoned(time, timezone) {
  const options = { weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  try {
    return new Date(time).toLocaleString(undefined, { ...options, timeZone: timezone });
  } catch {
    return new Date(time).toLocaleString(undefined, options);
  }
}

/** Returns a time, relative and exact; a text if there is none. */
export const timeText = (time, timezone, none) =>
  (time ? el("time", { datetime: time }, formatRelative(time), el("span", { class: "hint block" }, formatZoned(time, timezone))) : none);

/** Returns the numbers of pages that are not zero, the changes first. */
export function summaryText(summary) {
  const counts = PAGE_STATUSES.filter((status) => summary[status]).map((status) => `${formatCount(summary[status])} ${status}`);
  return counts.length ? counts.join(", ") : countText(summary.totalPages, "page");
}

/** Returns the numbers of pages as colored statuses. */
export function summaryBadges(summary) {
  const counts = PAGE_STATUSES.filter((status) => summary[status]);
  if (!counts.length) return el("span", { class: "hint" }, "no pages");
  return el("span", { class: "badges" }, ...counts.map((status) => badge(STATUS_KINDS[status], `${formatCount(summary[status])} ${status}`)));
}

/** Returns a target in a few words. */
export function targetText(target) {
  if (target.type === "scrape") return target.urls.length === 1 ? target.urls[0] : `${target.urls[0]} and ${countText(target.urls.length - 1, "more page")}`;
  if (target.type === "crawl") return `site ${target.url}`;
  return `search ${target.queries.map((query) => `"${query}"`).join(", ")}`;
}

/** Returns a duration of milliseconds; short ones with a fraction. */
export function elapsedText(from, to) {
  const seconds = (new Date(to) - new Date(from)) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Returns a URL without user, password, query and fragment, which may be secret. */
export function withoutSecrets(url) {
  try {
    const { origin, pathname } = new URL(url);
    return origin === "null" ? "(hidden)" : origin + pathname;
  } catch {
    return "(hidden)";
  }
}

/** Returns the outcomes of the notifications of a check, each with a kind of badge and a text. */
export function notificationResults(status) {
  const results = [];
  const { channels = [], ...single } = status ?? {};
  const deliveries = [...Object.entries(single), ...channels.map((delivery) => [delivery.service, delivery])];
  for (const [channel, delivery] of deliveries) {
    if (!delivery || typeof delivery !== "object") continue;
    const name = { webhook: "Webhook", email: "Email", slack: "Slack" }[channel] ?? channel;
    const amount = channel === "webhook" ? `${formatCount(delivery.delivered ?? 0)} delivered` : "sent";
    if (delivery.queued) results.push(["busy", `${name}: ${formatCount(delivery.queued)} queued`, delivery.error]);
    else if (delivery.error || (delivery.attempted && !delivery.success)) results.push(["bad", `${name}: failed`, delivery.error]);
    else if (delivery.attempted) results.push(["good", `${name}: ${amount}`]);
    else results.push(["plain", `${name}: nothing to send`]);
  }
  return results;
}

/** Returns the outcomes of the notifications of a check. */
export function notificationBadges(status) {
  const results = notificationResults(status);
  return results.length ? el("span", { class: "badges" }, ...results.map(([kind, text]) => badge(kind, text))) : "-";
}

/** Sets the title of a page below "Monitors", with links to the pages above. */
export function setHeading(container, title, links) {
  container.querySelector("h1").replaceChildren(title);
  container.querySelector("h1").dir = "auto";
  document.title = `${title} - websvc`;
  container.prepend(el("nav", { "aria-label": "Breadcrumb", class: "breadcrumb" },
    el("ol", {}, ...links.map(([text, href]) => el("li", { dir: "auto" }, el("a", { href }, text))))));
}
