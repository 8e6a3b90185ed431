// How the service is: what is ready, where results come from, what is stored.

import { ask } from "./api.js";
import { bytes, complain, el, facts, table, time } from "./dom.js";

/** Shows the page, and keeps it fresh until it is left. */
export async function system(place) {
  const shown = el("div");
  place.append(shown);
  const show = async () => {
    const found = await ask("GET", "/dashboard/system");
    const { version, startedAt, readiness, index, cache, crawl, browser } = found;
    shown.replaceChildren(
      section("Service", facts([["Version", version], ["Running since", time(startedAt)], ["State", readiness.status], ...Object.entries(readiness.checks).map(([part, state]) => [part, state])])),
      section("Sources", table("Where results come from", ["Name", "State", "Why"], readiness.sources.map((source) => [source.name, source.state, source.reason ?? ""]), "There are no sources.")),
      section("Index", index ? facts([["Documents", String(index.documents)], ["Images", String(index.images)], ["Size", bytes(index.bytes)]]) : el("p", {}, "There is no index.")),
      section("Crawl", crawl ? facts([["Pages done", String(crawl.pages)], ["Failed", String(crawl.failed)], ["Waiting", String(crawl.waiting)]]) : el("p", {}, "No crawl is running.")),
      section("Page cache", facts([["Pages", String(cache.pages)], ["Size", bytes(cache.bytes)], ["Bound", cache.maxBytes ? bytes(cache.maxBytes) : undefined]])),
      section("Browser", browser ? facts(Object.entries(browser).map(([name, value]) => [name, String(value)])) : el("p", {}, "There is no browser.")));
  };
  await show();
  const clock = setInterval(() => show().catch((error) => complain(error.message)), 3000);
  return () => clearInterval(clock);
}

const section = (title, content) => el("section", { class: "card", "aria-label": title }, el("h2", {}, title), content);
