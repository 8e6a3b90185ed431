// The state of the service: readiness, crawls, search sources, index, page cache, browser and threat scanner.

import { request } from "./api.js";
import { badge, countText, el, empty, formatBytes, formatCount, formatDuration, formatTime, metrics, properties, table } from "./dom.js";
import { autoRefresh } from "./live.js";

const INTERVAL_MS = 3000;

/** The time since the last report of a crawl after which it may have died. */
const SILENT_MS = 60_000;

/** Shows the page, and returns a function that stops its refresh. */
export async function system(container) {
  const bodies = new Map();
  const columns = el("div", { class: "columns" });
  let last = null;
  const load = async () => {
    try {
      return await request("GET", "/dashboard/system");
    } catch (error) {
      showFailure();
      throw error;
    }
  };
  // All values are those of the last response then, and the state is not known.
  const showFailure = () => {
    if (!last || container.classList.contains("stale")) return;
    container.classList.add("stale");
    showSection("", overview(last, 0, true));
  };
  const show = async () => {
    const current = await load();
    container.classList.remove("stale");
    const growth = last?.index && current.index && current.now > last.now ? (current.index.documents - last.index.documents) / ((current.now - last.now) / 1000) : 0;
    for (const [title, content] of sections(current, growth, last)) showSection(title, content);
    last = current;
  };
  // If a section has the focus, it keeps the focus after the refresh.
  const showSection = (title, content) => {
    if (!bodies.has(title)) {
      const body = el("div");
      bodies.set(title, body);
      (title ? columns : container).append(el("section", { class: title ? "card" : "", "aria-label": title || "Overview" }, title ? el("h2", {}, title) : null, body));
    }
    const body = bodies.get(title);
    const hasFocus = body.contains(document.activeElement);
    body.replaceChildren(...[content].flat());
    if (hasFocus) body.querySelector("[tabindex]")?.focus();
  };
  await show();
  const { element, stop } = autoRefresh(show, INTERVAL_MS, true);
  container.append(columns);
  container.querySelector("h1").after(element);
  return stop;
}

/** Returns the most important values. If the service does not respond, they are the last known ones. */
function overview({ startedAt, now, readiness, requests, index, cache }, growth, isStale) {
  const lookups = cache.hits + cache.misses;
  return metrics([
    ["State", isStale ? badge("bad", "unknown") : state(readiness.status), isStale ? `no response since ${new Date(now).toLocaleTimeString()}; all values are of then` : `up ${formatDuration(now - startedAt)}`],
    ["Documents", index ? formatCount(index.documents) : "none", growth > 0 ? `+${growth.toFixed(1)} per second` : "in the index"],
    ["Requests", formatCount(requests.inWork), requests.waiting ? `in progress, ${requests.waiting} queued` : "in progress"],
    ["Cache hits", lookups ? `${Math.round((cache.hits / lookups) * 100)} %` : "-", lookups ? `of ${countText(lookups, "lookup")}` : "no lookups"],
  ]);
}

function sections(current, growth, last) {
  const { version, startedAt, now, readiness, requests, sources, index, crawls, cache, browser, threat } = current;
  return [
    ["", overview(current, growth, false)],
    ["Crawls", crawls.length ? crawls.map((crawl) => crawlProgress(crawl, last?.crawls?.find((other) => other.id === crawl.id && other.team === crawl.team)))
      : empty("No crawl or batch is in progress. ", el("code", {}, `websvc index crawl URL --server ${location.origin}`), ", ", el("code", {}, "POST /v2/crawl"), " and ", el("code", {}, "POST /v2/batch/scrape"), " are listed here.")],
    ["Sources", [...readiness.sources.filter(({ warning }) => warning).slice(0, 1).map(({ warning }) => empty(warning)), table("Search sources", ["Name", "State", ["Responses", "number"], ["Failed", "number"], ["Mean", "number"], ["p95", "number"], "Last error"],
      readiness.sources.map((source) => sourceRow(source, sources.find(({ name }) => name === source.name), now)), "No sources")]],
    ["Index", index ? properties([["Documents", formatCount(index.documents)], ...(index.images === null ? [] : [["Images", formatCount(index.images)]]), ["Size", formatBytes(index.bytes)]]) : empty("No index")],
    ["Page cache", [
      el("progress", { max: cache.maxBytes, value: cache.bytes, "aria-label": "Used part of the cache" }),
      properties([["Size", `${formatBytes(cache.bytes)} of ${formatBytes(cache.maxBytes)}`], ["Pages", formatCount(cache.pages)], ["Hits", formatCount(cache.hits)], ["Misses", formatCount(cache.misses)],
        ["Disk", cache.isFull ? badge("bad", "full: no pages are stored") : undefined]])]],
    ["Browser", browser ? properties([["State", browser.running ? badge("good", "running") : badge("plain", "not started")], ["Open pages", formatCount(browser.pages)],
      ["Queued pages", formatCount(browser.waiting)], ["Free slots", formatCount(browser.freePlaces)], ["Memory", formatBytes(browser.memoryBytes)],
      ["Since the start", `${formatCount(browser.opened)} opened, ${formatCount(browser.failed)} failed, ${formatCount(browser.crashed)} crashed`], ["Warning", browser.warning]])
      : empty("No browser: pages are used as their hosts serve them, without running scripts.")],
    ["Threat scanner", threat.scanner ? properties([["Scanner", threat.scanner], ["Scanned", formatCount(threat.scanned)], ["Cached", formatCount(threat.remembered)],
      ["Failed", threat.failed ? badge("bad", formatCount(threat.failed)) : "0"], ["Blocked URLs", formatCount(threat.blocked)]])
      : [empty("No scanner is configured: only the lists of the teams apply."), properties([["Blocked URLs", formatCount(threat.blocked)]])]],
    ["Service", properties([["Version", version], ["Started", formatTime(startedAt)], ...Object.entries(readiness.checks).map(([name, value]) => [name[0].toUpperCase() + name.slice(1), state(value)]),
      ["Admitted", formatCount(requests.admitted)], ["Rejected", formatCount(requests.refused)]])],
  ];
}

const state = (word) => badge(["ok", "ready"].includes(word) ? "good" : "bad", word.replaceAll("_", " "));

function sourceRow({ name, state: word, reason, retryAfterMs }, source, now) {
  const stateBadge = word === "ok" ? badge("good", "ok") : badge("bad", word === "paused" ? `paused for ${formatDuration(retryAfterMs ?? 0)}` : word);
  const failure = source?.lastFailure;
  return [name, stateBadge, formatCount(source?.answered ?? 0), formatCount((source?.unanswered ?? 0) + (source?.givenUp ?? 0)),
    typeof source?.meanMs === "number" ? `${source.meanMs.toFixed(1)} ms` : "-",
    source?.p95BelowMs ? `< ${source.p95BelowMs} ms` : source?.answered ? "> 10 s" : "-",
    failure ? `${reason ?? failure.reason}, ${formatDuration(now - failure.at)} ago` : reason ?? "none"];
}

function crawlProgress({ id, hosts = [], team, job, state: jobState, pages = 0, failed = 0, skipped = 0, waiting = 0, ended, elapsedMs, silentMs }, previous) {
  const [word, kind] = ended && jobState && jobState !== "completed" ? [jobState, "bad"] : ended ? ["done", "good"] : silentMs > SILENT_MS ? [`no report for ${formatDuration(silentMs)}`, "bad"] : ["in progress", "busy"];
  const interval = previous ? elapsedMs - previous.elapsedMs : 0;
  const rate = !ended && interval > 0 && pages > previous.pages ? (pages - previous.pages) / (interval / 1000) : pages / Math.max(1, elapsedMs / 1000);
  const title = hosts.length ? hosts.join(", ") : id;
  const total = Math.max(1, pages + failed + waiting);
  return el("div", { class: "crawl" },
    el("p", { class: "head" }, el("strong", { dir: "auto" }, title), " ", badge(kind, word), el("span", { class: "hint" }, [job ? ` ${job} ${id}` : "", team ? ` team ${team}` : ""].filter(Boolean).join(","))),
    el("progress", { max: total, value: ended ? total : pages + failed, "aria-label": `Crawl of ${title}` }),
    el("p", { class: "hint" }, `${countText(pages, "page")}, ${formatCount(failed)} failed, ${formatCount(skipped)} skipped, ${formatCount(waiting)} queued; ${rate.toFixed(1)} pages per second; duration ${formatDuration(elapsedMs)}`));
}
