// How the service is: what is ready, where results come from, what is stored, and the crawls under way.

import { ask } from "./api.js";
import { badge, bytes, count, el, empty, facts, figures, span, table, time } from "./dom.js";
import { renewal } from "./live.js";

const PACE = 3000;

/** A crawl that says nothing for so long may have died. */
const SILENT = 60_000;

/** Shows the page, and keeps it fresh until it is left. */
export async function system(place) {
  const parts = new Map();
  const shown = el("div", { class: "columns" });
  let last = null;
  const show = async () => {
    const found = await ask("GET", "/dashboard/system");
    const growth = last?.index && found.index && found.now > last.now ? (found.index.documents - last.index.documents) / ((found.now - last.now) / 1000) : 0;
    for (const [title, content] of sections(found, growth, last)) part(title, content);
    last = found;
  };
  // Whoever reads a part with the keyboard stays where they are when it is renewed.
  const part = (title, content) => {
    if (!parts.has(title)) {
      const body = el("div");
      parts.set(title, body);
      (title ? shown : place).append(el("section", { class: title ? "card" : "", "aria-label": title || "At a glance" }, title ? el("h2", {}, title) : null, body));
    }
    const body = parts.get(title);
    const held = body.contains(document.activeElement);
    body.replaceChildren(...[content].flat());
    if (held) body.querySelector("[tabindex]")?.focus();
  };
  await show();
  const { element, end } = renewal(show, PACE, true);
  place.append(shown);
  place.querySelector("h1").after(element);
  return end;
}

function sections(found, growth, last) {
  const { version, startedAt, now, readiness, requests, sources, index, crawls, cache, browser, threat } = found;
  const asked = cache.hits + cache.misses;
  return [
    ["", figures([
      ["State", state(readiness.status), `since ${span(now - startedAt)}`],
      ["Documents", index ? count(index.documents) : "none", growth > 0 ? `+${growth.toFixed(1)} a second` : "in the index"],
      ["Requests", count(requests.inWork), requests.waiting ? `in work, ${requests.waiting} waiting` : "in work"],
      ["Cache hits", asked ? `${Math.round((cache.hits / asked) * 100)} %` : "-", asked ? `of ${count(asked)} pages` : "no page was asked for"],
    ])],
    ["Crawls", crawls.length ? crawls.map((crawl) => progress(crawl, last?.crawls?.find((one) => one.id === crawl.id && one.team === crawl.team)))
      : empty("No crawl or batch is under way. ", el("code", {}, `websvc index crawl URL --server ${location.origin}`), ", ", el("code", {}, "POST /v2/crawl"), " and ", el("code", {}, "POST /v2/batch/scrape"), " show up here.")],
    ["Sources", [...readiness.sources.filter(({ warning }) => warning).slice(0, 1).map(({ warning }) => empty(warning)), table("Where results come from", ["Name", "State", ["Answered", "number"], ["Failed", "number"], ["Mean", "number"], ["95 % below", "number"], "Last error"],
      readiness.sources.map((source) => health(source, sources.find(({ name }) => name === source.name), now)), "There are no sources.")]],
    ["Index", index ? facts([["Documents", count(index.documents)], ["Images", count(index.images)], ["Size", bytes(index.bytes)]]) : empty("There is no index.")],
    ["Page cache", [
      el("progress", { max: cache.maxBytes, value: cache.bytes, "aria-label": "How full the cache is" }),
      facts([["Size", `${bytes(cache.bytes)} of ${bytes(cache.maxBytes)}`], ["Pages", count(cache.pages)], ["Hits", count(cache.hits)], ["Misses", count(cache.misses)],
        ["Disk", cache.isFull ? badge("bad", "full: nothing is kept") : undefined]])]],
    ["Browser", browser ? facts([["State", browser.running ? badge("good", "running") : badge("plain", "not started")], ["Pages open", count(browser.pages)],
      ["Waiting", count(browser.waiting)], ["Free places", count(browser.freePlaces)], ["Memory", bytes(browser.memoryBytes)],
      ["Since the start", `${count(browser.opened)} opened, ${count(browser.failed)} failed, ${count(browser.crashed)} crashes`], ["Warning", browser.warning]])
      : empty("There is no browser: pages are read as their hosts send them.")],
    ["Threat scanner", threat.scanner ? facts([["Scanner", threat.scanner], ["Verdicts", count(threat.scanned)], ["From memory", count(threat.remembered)],
      ["Failed", threat.failed ? badge("bad", count(threat.failed)) : "0"], ["URLs blocked", count(threat.blocked)]])
      : [empty("No scanner is configured: the lists of the teams alone decide."), facts([["URLs blocked", count(threat.blocked)]])]],
    ["Service", facts([["Version", version], ["Running since", time(startedAt)], ...Object.entries(readiness.checks).map(([name, value]) => [name[0].toUpperCase() + name.slice(1), state(value)]),
      ["Admitted", count(requests.admitted)], ["Turned away", count(requests.refused)]])],
  ];
}

const state = (word) => badge(["ok", "ready"].includes(word) ? "good" : "bad", word.replaceAll("_", " "));

function health({ name, state: word, reason, retryAfterMs }, seen, now) {
  const shown = word === "ok" ? badge("good", "ok") : badge("bad", word === "paused" ? `paused for ${span(retryAfterMs ?? 0)}` : word);
  const failure = seen?.lastFailure;
  return [name, shown, count(seen?.answered ?? 0), count((seen?.unanswered ?? 0) + (seen?.givenUp ?? 0)),
    typeof seen?.meanMs === "number" ? `${seen.meanMs.toFixed(1)} ms` : "-",
    seen?.p95BelowMs ? `${seen.p95BelowMs} ms` : seen?.answered ? "above 10 s" : "-",
    failure ? `${reason ?? failure.reason}, ${span(now - failure.at)} ago` : reason ?? "none"];
}

function progress({ id, hosts = [], team, job, state: end, pages = 0, failed = 0, skipped = 0, waiting = 0, ended, elapsedMs, silentMs }, before) {
  const [word, kind] = ended && end && end !== "completed" ? [end, "bad"] : ended ? ["done", "good"] : silentMs > SILENT ? [`silent for ${span(silentMs)}`, "bad"] : ["under way", "busy"];
  const since = before ? elapsedMs - before.elapsedMs : 0;
  const rate = !ended && since > 0 && pages > before.pages ? (pages - before.pages) / (since / 1000) : pages / Math.max(1, elapsedMs / 1000);
  const title = hosts.length ? hosts.join(", ") : id;
  return el("div", { class: "crawl" },
    el("p", { class: "head" }, el("strong", { dir: "auto" }, title), " ", badge(kind, word), el("span", { class: "hint" }, [job ? ` ${job} ${id}` : "", team ? ` team ${team}` : ""].filter(Boolean).join(","))),
    el("progress", { max: Math.max(1, pages + failed + waiting), value: ended ? Math.max(1, pages + failed + waiting) : pages + failed, "aria-label": `Crawl of ${title}` }),
    el("p", { class: "hint" }, `${count(pages)} pages, ${count(failed)} failed, ${count(skipped)} left out, ${count(waiting)} waiting; ${rate.toFixed(1)} pages a second, ${span(elapsedMs)}`));
}
