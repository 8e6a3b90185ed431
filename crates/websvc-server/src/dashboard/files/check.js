// One check of a monitor: its result, and its pages with their changes.

import { request } from "./api.js";
import { boundedText, codeBlock, el, empty, field, formatCount, formatTime, link, metrics, properties, replaceContent, showError, table } from "./dom.js";
import { diffView } from "./diff.js";
import { refreshWhile } from "./live.js";
import { PAGE_STATUSES, apiPath, elapsedText, formatRelative, isInProgress, monitorPath, notificationResults, setHeading, statusBadge, summaryBadges } from "./monitor_text.js";

/** Pages that are read at once. */
const PAGE_SIZE = 25;

/** Changed fields of a page that are shown at first, and characters of a value. */
const [SHOWN_FIELDS, VALUE_CHARS] = [100, 500];

/** Characters of extracted data that are shown at first. */
const DATA_CHARS = 20_000;

/** Diffs are shown side by side. The choice holds until the dashboard is loaded again. */
let isSideBySide = false;

/** Shows the page, and returns a function that stops its refresh. */
export async function check(container, monitorId, checkId) {
  const path = `${apiPath(monitorId)}/checks/${encodeURIComponent(checkId)}`;
  const [overview, list, more] = [el("div", { class: "compact" }), el("div", { class: "pages" }), el("div", { class: "buttons" })];
  const filter = el("select", {}, el("option", { value: "" }, "all"), ...PAGE_STATUSES.map((status) => el("option", { value: status }, status)));
  let [views, shown, state, isRunning, startTime] = [[], 0, null, false, ""];
  const read = (skip) => request("GET", `${path}?limit=${PAGE_SIZE}&skip=${skip}${filter.value ? `&status=${filter.value}` : ""}`);
  const addView = (view) => { views = [...views.filter(({ element }) => element.isConnected), view]; view.show(isSideBySide); };
  const addPages = ({ data, next }) => {
    list.append(...data.pages.map((page) => pageEntry(page, addView)));
    shown += data.pages.length;
    more.replaceChildren(...(next ? [el("button", { type: "button", onclick: () => run(async () => addPages(await read(shown))) }, "More pages")] : []));
  };
  const showPages = (response) => {
    const openIds = new Set([...list.querySelectorAll("details[open]")].map(({ dataset }) => dataset.id));
    const isFirst = !list.childElementCount;
    [shown, views] = [0, []];
    replaceContent(list, response.data.pages.length ? [] : empty(isInProgress(response.data) ? "No page is done yet." : filter.value ? `No page has the status ${filter.value}.` : "The check has no pages."));
    addPages(response);
    const entries = [...list.querySelectorAll(":scope > details")];
    for (const entry of entries) entry.open = openIds.has(entry.dataset.id);
    if (isFirst) { const changed = entries.find(({ dataset }) => dataset.status === "changed"); if (changed) changed.open = true; }
  };
  const show = async () => {
    let response = await read(0);
    const { summary } = response.data;
    // Among many pages, those that changed are shown first.
    if (state === null && response.next && summary.changed) {
      filter.value = "changed";
      response = await read(0);
    }
    isRunning = isInProgress(response.data);
    startTime = formatTime(response.data.startedAt ?? response.data.createdAt);
    for (const option of filter.options) option.textContent = `${option.value || "all"} (${formatCount(option.value ? summary[option.value] : summary.totalPages)})`;
    replaceContent(overview, ...checkOverview(response.data));
    const current = stateOf(response.data);
    if (current !== state) showPages(response);
    state = current;
  };
  const stateOf = ({ status, summary }) => JSON.stringify([status, summary, filter.value]);
  const refresh = async () => {
    // The pages with their changes may be megabytes, and are read only when there are new ones.
    const { data } = await request("GET", `${path}?limit=1`);
    if (stateOf(data) !== state) await show();
  };
  const run = (action) => action().catch((error) => showError(error.message));
  filter.addEventListener("change", () => run(show));
  const [{ data: monitor }] = await Promise.all([request("GET", apiPath(monitorId)), show()]);
  setHeading(container, `Check of ${startTime}`, [["Monitors", "#/monitors"], [monitor.name, monitorPath(monitorId)]]);
  const choose = (choice) => { isSideBySide = choice; for (const view of views) if (view.element.isConnected) view.show(choice); };
  container.append(overview, el("h2", {}, "Pages"), el("div", { class: "row pickers" }, field("Status", filter), viewSwitch(choose)), list, more);
  return refreshWhile(() => isRunning, refresh);
}

/** Returns the choice between the two views of a diff. */
function viewSwitch(choose) {
  const option = (text, value) => el("label", { class: "chip" }, el("input", { type: "radio", name: "diff-view", checked: isSideBySide === value, onchange: () => choose(value) }), text);
  return el("fieldset", { class: "chips" }, el("legend", {}, "Changes"), option("Inline", false), option("Side by side", true));
}

function checkOverview(item) {
  const { status, summary, startedAt, finishedAt, actualCredits, estimatedCredits, error, notificationStatus, targetResults } = item;
  const elapsed = startedAt && finishedAt ? elapsedText(startedAt, finishedAt) : "-";
  const notifications = notificationResults(notificationStatus);
  const searches = (targetResults ?? []).filter((result) => result.summary || result.degradedReason);
  return [
    metrics([
      ["Status", statusBadge(status), item.trigger],
      ["Started", startedAt ? formatRelative(startedAt) : "not yet", formatTime(startedAt ?? item.createdAt)],
      ["Duration", elapsed],
      ["Pages", formatCount(summary.totalPages), summaryBadges(summary)],
      ["Credits", actualCredits === null ? "-" : formatCount(actualCredits), estimatedCredits === null ? null : `estimate ${formatCount(estimatedCredits)}`],
    ]),
    error ? el("p", { class: "card note", role: "note" }, ...boundedText(error, 1000)) : null,
    notifications.length || searches.length ? el("section", { class: "card", "aria-label": "Notifications" }, properties([
      ...notifications.map(([kind, text, reason]) => [text.split(":")[0], el("span", { class: kind === "bad" ? "bad" : null }, text.slice(text.indexOf(":") + 2), reason ? `: ${reason}` : null)]),
      ...searches.map((result) => ["Search", [result.summary, result.degradedReason].filter(Boolean).join("; ")]),
    ])) : null,
  ];
}

/** Returns a page, which opens to its changes. */
function pageEntry(page, addView) {
  const { id, url, status, judgment, metadata } = page;
  const note = judgment ? (judgment.meaningful ? "meaningful" : "not meaningful") : metadata?.searchStatus?.replaceAll("_", " ");
  const body = el("div", { class: "body" });
  return el("details", { class: "card page", "data-id": id, "data-status": status, ontoggle: (event) => {
    // The content of a page may be large, so that it is created when the page is opened.
    if (event.target.open && !body.childElementCount) body.append(...pageContent(page, addView));
  } }, el("summary", { "data-focus": id }, statusBadge(status), " ", el("bdi", {}, url), note ? el("span", { class: "hint" }, ` ${note}`) : null), body);
}

function pageContent(page, addView) {
  const { url, statusCode, error, metadata, diff, snapshot, judgment, createdAt } = page;
  const { title, creditsUsed, concept, rationale, matchedQueries, publishedAt } = metadata ?? {};
  const parts = [properties([
    ["Page", link(url)], ["Title", title], ["HTTP status", statusCode === null ? undefined : String(statusCode)],
    ["Error", error ? el("span", { class: "bad" }, ...boundedText(error, 1000)) : undefined],
    ["Queries", matchedQueries?.join(", ")], ["Subject", concept], ["Reason", rationale], ["Published", publishedAt],
    ["Credits", creditsUsed === undefined ? undefined : formatCount(creditsUsed)], ["Checked", formatTime(createdAt)],
  ])];
  if (judgment) parts.push(judgmentNote(judgment));
  // The tree of a text diff has `files`; changed fields are objects with the two values.
  if (diff?.json && !Array.isArray(diff.json.files)) parts.push(...changedFields(Object.entries(diff.json), url));
  if (diff?.text) {
    const view = diffView(diff.text, url);
    parts.push(el("h3", {}, "Changed text"), view.element);
    addView(view);
  }
  if (snapshot?.json) {
    const text = JSON.stringify(snapshot.json, null, 2);
    parts.push(el("details", { class: "data" }, el("summary", {}, "Extracted data"), codeBlock("Extracted data", ...boundedText(text, DATA_CHARS))));
  }
  return parts;
}

function judgmentNote({ meaningful, confidence, reason, meaningfulChanges }) {
  const change = ({ type, before, after, reason: why }) => el("li", {}, `${type}: `, before ? el("del", {}, ...boundedText(before, VALUE_CHARS)) : null, before && after ? " " : null, after ? el("ins", {}, ...boundedText(after, VALUE_CHARS)) : null, why ? el("span", { class: "hint" }, ` ${why}`) : null);
  return el("section", { class: "judgment", "aria-label": "Judgment" },
    el("p", { dir: "auto" }, el("strong", {}, meaningful ? "Meaningful" : "Not meaningful"), ` (confidence ${confidence}): `, ...boundedText(reason, 1000)),
    meaningfulChanges?.length ? el("ul", {}, ...meaningfulChanges.map(change)) : null);
}

/** Returns a table of the fields that changed. */
function changedFields(entries, url) {
  const value = (json) => (json === undefined || json === null ? el("span", { class: "hint" }, "none") : el("code", { class: "value" }, ...boundedText(typeof json === "string" ? json : JSON.stringify(json), VALUE_CHARS)));
  const create = (max) => table(`Changed fields of ${url}`, ["Field", "Before", "After"], entries.slice(0, max).map(([path, { previous, current } = {}]) => [el("code", { class: "value" }, path), value(previous), value(current)]), "No field changed");
  const element = el("div", {}, create(SHOWN_FIELDS));
  if (entries.length > SHOWN_FIELDS) element.append(el("button", { type: "button", class: "small", onclick: () => element.replaceChildren(create(entries.length)) }, `Show all ${formatCount(entries.length)} fields`));
  return [el("h3", {}, "Changed data"), element];
}
