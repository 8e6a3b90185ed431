// Checks the official JavaScript SDK against a running service: `js_sdk.mjs ADDRESS [KEY]`.

import assert from "node:assert/strict";
import Firecrawl from "@mendable/firecrawl-js";
import {
  credits, endless, extraction, hasModel, prompt, schema, sencha, sessionCredits, teas, waitForRun,
} from "./agent.mjs";
import {
  WatchedPage, address, announce, brochure, changedLines, check, hasSessions, key, lastLine, menuPage, newProfile, page, shop,
  waitForCheck,
} from "./checks.mjs";

const client = (apiKey) => new Firecrawl({ apiKey, apiUrl: address });
const hasError = (status, text) => (error) => {
  assert.equal(error.status, status, String(error));
  assert.match(error.message + JSON.stringify(error.details ?? ""), text);
  return true;
};

announce("@mendable/firecrawl-js");

await check("search", async () => {
  const found = await client(key).search("green tea water");
  assert.equal(found.web[0].url, page);
  assert.equal(found.web[0].title, "Green tea");
  assert.match(found.web[0].description, /green tea/i);
  assert.equal(found.news, undefined);
});

await check("search with scraping", async () => {
  const formats = ["markdown", "html", { type: "links" }];
  const found = await client(key).search("green tea water", { scrapeOptions: { formats } });
  const [first] = found.web;
  assert.match(first.markdown, /^# Green tea[^]*Sencha/);
  assert.doesNotMatch(first.markdown, /Home/);
  assert.match(first.html, /<h1>Green tea<\/h1>/);
  assert.deepEqual(first.links, ["http://tea.test/oolong.html"]);
  assert.deepEqual([first.url, first.metadata.sourceURL, first.metadata.statusCode], [page, page, 200]);
});

await check("search with filters", async () => {
  const found = await client(key).search("tea", {
    limit: 1,
    sources: ["web", { type: "news" }],
    includeDomains: ["tea.test"],
    excludeDomains: [],
    country: "DE",
    timeout: 30000,
  });
  assert.equal(found.web.length, 1);
  const excluded = await client(key).search("tea", { excludeDomains: ["tea.test"] });
  assert.deepEqual(excluded.web, []);
});

await check("map", async () => {
  const { links } = await client(key).map("http://tea.test/", { limit: 10 });
  assert.deepEqual(links.map(({ url }) => url).sort(), ["http://tea.test/", page, "http://tea.test/oolong.html"].sort());
  assert.equal(links.find(({ url }) => url === page).title, "Green tea");
  const best = await client(key).map("tea.test", { search: "oolong", limit: 1, sitemap: "only", timeout: 30000 });
  assert.deepEqual(best.links.map(({ url }) => url), ["http://tea.test/oolong.html"]);
  await assert.rejects(client(key).map("http://169.254.169.254/"), hasError(403, /may not be fetched/));
});

await check("scrape", async () => {
  const plain = await client(key).scrape(page);
  assert.match(plain.markdown, /^# Green tea[^]*Sencha/);
  assert.deepEqual([plain.html, plain.metadata.sourceURL, plain.metadata.statusCode], [undefined, page, 200]);
  const formats = ["markdown", "html", { type: "links" }];
  const options = { formats, onlyMainContent: true, timeout: 30000, maxAge: 0 };
  const all = await client(key).scrape(page, options);
  assert.deepEqual(all.links, ["http://tea.test/oolong.html"]);
  assert.deepEqual([all.metadata.cacheState, all.metadata.creditsUsed], ["miss", 1]);
  const missing = await client(key).scrape("http://tea.test/missing");
  assert.equal(missing.metadata.statusCode, 404);
});

await check("scrape of unavailable pages", async () => {
  const cached = client(key).scrape("http://tea.test/never", { minAge: 1 });
  await assert.rejects(cached, { status: 404, code: "SCRAPE_NO_CACHED_DATA" });
  await assert.rejects(client(key).scrape("ftp://tea.test/"), hasError(400, /url/));
});

await check("product and menu", async () => {
  const { product, menu, warning } = await client(key).scrape(shop, { storeInCache: false, formats: ["product", "menu"] });
  assert.deepEqual([product.title, product.brand, product.url], ["Sencha, 100 g", "Tea house", shop]);
  const [variant] = product.variants;
  assert.deepEqual([variant.sku, variant.price.amount, variant.price.currency], ["SEN-100", 12.5, "EUR"]);
  assert.equal(variant.availability.inStock, true);
  assert.equal(menu, undefined);
  assert.match(warning, /No menu found/);
  const found = (await client(key).scrape(menuPage, { storeInCache: false, formats: ["menu"] })).menu;
  assert.deepEqual([found.isMenu, found.merchant.name, found.sections[0].name], [true, "Tea house", "Cakes"]);
  assert.deepEqual(found.sections[0].items.map(({ name, price }) => [name, price.amount]), [["Matcha cake", 4.2], ["Scone", 3]]);
});

await check("attributes and raw bytes", async () => {
  const selectors = [{ selector: "a.file", attribute: "href" }];
  const formats = [{ type: "attributes", selectors }, { type: "rawBase64" }];
  const { attributes, rawBase64, warning } = await client(key).scrape(shop, { storeInCache: false, formats });
  assert.deepEqual(attributes, [{ selector: "a.file", attribute: "href", values: ["/brochure.pdf"] }]);
  assert.match(Buffer.from(rawBase64, "base64").toString(), /^<!doctype html>[^]*Sencha/);
  assert.equal(warning, undefined);
  const file = await client(key).scrape(brochure, { storeInCache: false, formats: ["rawBase64"] });
  assert.equal(Buffer.from(file.rawBase64, "base64").subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual([file.markdown, file.metadata.creditsUsed], [undefined, 1]);
});

await check("pages of a PDF", async () => {
  const parsers = [{ type: "pdf", pages: true, pageMarkers: true }];
  const marked = await client(key).scrape(brochure, { storeInCache: false, formats: ["markdown"], parsers });
  assert.deepEqual(marked.pages.map(({ pageNumber }) => pageNumber), [1, 2]);
  assert.equal(marked.pages[1].markdown, "The second page is about oolong.\n");
  assert.match(marked.markdown, /green tea\.\n\n---\n\n<!-- page 2 -->\n\nThe second page/);
  // The older name, a page limit, blocks, and a parser that this service does not have.
  const older = [{ type: "pdf", pageMarkdown: true, maxPages: 1, blocks: true }, { type: "image" }];
  const { pages, blocks, warning } = await client(key).scrape(brochure, { storeInCache: false, parsers: older });
  assert.deepEqual([pages.length, blocks.length, blocks[0].status], [1, 1, "ok"]);
  assert.deepEqual(blocks[0].items.map(({ type, content }) => [type, content.slice(0, 10)]), [["title", "# Teas of "], ["text", "The first "]]);
  assert.ok(blocks[0].items.every(({ bbox }) => bbox.length === 4));
  assert.match(warning, /image is not available/);
});

await check("activity", async () => {
  const sdk = client(key);
  await sdk.scrape(page);
  // The SDK has no method for it, but its HTTP client can request any path.
  const { data: listed } = await sdk.http.get("/v2/team/activity?endpoint=scrape&limit=1");
  assert.deepEqual(listed.data.map(({ endpoint, target }) => [endpoint, target]), [["scrape", page]]);
  await assert.rejects(sdk.http.get("/v2/team/activity?limit=101"), (error) => error.response?.status === 400);
});

await check("parse", async () => {
  const data = "<main><h1>Tea</h1><p>Of leaves.</p></main>";
  const file = await client(key).parse({ data, filename: "tea.html", contentType: "text/html" });
  assert.equal(file.markdown, "# Tea\n\nOf leaves.\n");
  assert.equal(file.metadata.creditsUsed, 1);
  const image = { data: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]), filename: "tea.png", contentType: "image/png" };
  await assert.rejects(client(key).parse(image), hasError(400, /Unsupported file type/));
});

await check("usage", async () => {
  const sdk = client(key);
  await sdk.search("green tea water");
  const credits = await sdk.getCreditUsage();
  assert.ok(credits.remainingCredits > 0);
  assert.deepEqual([credits.planCredits ?? null, credits.billingPeriodEnd ?? null], [null, null]);
  const tokens = await sdk.getTokenUsage();
  assert.equal(tokens.remainingTokens, credits.remainingCredits);
  const months = (await sdk.getCreditUsageHistorical()).periods;
  assert.ok(months.length === 1 && months[0].creditsUsed >= 2 && months[0].endDate === null);
  const keys = (await sdk.getTokenUsageHistorical(true)).periods;
  assert.equal(keys.reduce((sum, { tokensUsed }) => sum + tokensUsed, 0), months[0].creditsUsed);
  assert.equal(keys.some(({ apiKey }) => apiKey), Boolean(key));
  const queue = await sdk.getQueueStatus();
  assert.equal(queue.jobsInQueue, 0);
  assert.ok(queue.maxConcurrency > 0 && queue.mostRecentSuccess.endsWith("Z"));
  assert.deepEqual(await sdk.getConcurrency(), { concurrency: 0, maxConcurrency: queue.maxConcurrency });
});

await check("batch", async () => {
  const urls = [page, "http://tea.test/oolong.html"];
  const sdk = client(key);
  const job = await sdk.batchScrape(urls, { options: { formats: ["markdown"] }, pollInterval: 1, timeout: 60 });
  assert.deepEqual([job.status, job.completed, job.total, job.data.length], ["completed", 2, 2, 2]);
  assert.deepEqual(job.data.map(({ metadata }) => metadata.sourceURL).sort(), urls);
  assert.ok(job.data.every(({ markdown }) => /^# (Green|Oolong)/.test(markdown)));
  const started = await sdk.startBatchScrape([page], { options: { formats: ["links"] } });
  assert.ok(started.url.startsWith(address));
  assert.deepEqual((await sdk.getBatchScrapeErrors(started.id)).errors, []);
  // The job may already have completed, and then it cannot be cancelled.
  await sdk.cancelBatchScrape(started.id).catch(hasError(409, /already/));
});

await check("crawl", async () => {
  const sdk = client(key);
  const options = { limit: 10, sitemap: "skip", pollInterval: 1, timeout: 60 };
  const job = await sdk.crawl("http://tea.test/", options);
  const pages = job.data.map(({ metadata }) => metadata.sourceURL);
  assert.deepEqual([job.status, job.completed, new Set(pages).size], ["completed", pages.length, pages.length]);
  assert.ok(pages.includes(page) && job.data.every(({ markdown }) => markdown));
  const started = await sdk.startCrawl("http://tea.test/", { limit: 2 });
  await sdk.cancelCrawl(started.id).catch(hasError(409, /already/));
  const { crawls } = await sdk.getActiveCrawls();
  assert.ok(crawls.every(({ id }) => id !== started.id));
});

// The watcher sends its key as the WebSocket subprotocol. Without a key, or before Node 22, it polls the status instead.
const hasWebSocket = Boolean(key) && typeof WebSocket === "function";
const watchJob = async (id, kind) => {
  const watcher = client(key).watcher(id, { kind, pollInterval: hasWebSocket ? 60 : 1, timeout: 60 });
  const documents = [];
  const snapshots = [];
  watcher.on("document", (document) => documents.push(document));
  watcher.on("snapshot", (snapshot) => snapshots.push(snapshot));
  let done;
  watcher.on("done", (state) => (done = state));
  await watcher.start();
  watcher.close();
  assert.equal(done?.status, "completed");
  return { documents, snapshots, done };
};

await check("watch a batch", async () => {
  const urls = [page, "http://tea.test/oolong.html"];
  const { id } = await client(key).startBatchScrape(urls, { options: { formats: ["markdown"], maxAge: 0 } });
  for (const time of ["while the job runs", "after it has completed"]) {
    const { documents, done } = await watchJob(id, "batch");
    assert.deepEqual(documents.map(({ metadata }) => metadata.sourceURL).sort(), urls, time);
    assert.deepEqual([done.completed, done.total, done.data.length], [2, 2, 2], time);
  }
});

await check("watch a crawl", async () => {
  const { id } = await client(key).startCrawl("http://tea.test/", { limit: 10, sitemap: "skip" });
  const { documents, snapshots, done } = await watchJob(id, "crawl");
  const pages = documents.map(({ metadata }) => metadata.sourceURL);
  assert.ok(pages.includes(page) && new Set(pages).size === pages.length, String(pages));
  assert.deepEqual([done.completed, snapshots.at(-1).status], [pages.length, "completed"]);
});

if (hasWebSocket) {
  await check("watch an unknown job", async () => {
    const watcher = client(key).watcher("019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60", { kind: "crawl", timeout: 1 });
    let failed;
    watcher.on("error", (error) => (failed = error));
    await watcher.start();
    watcher.close();
    assert.match(String(failed?.error), /Job not found/);
  });
}

await check("monitor", async () => {
  const sdk = client(key);
  const watched = new WatchedPage();
  const created = await sdk.createMonitor({
    name: "Lamp",
    schedule: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    targets: [{ type: "scrape", urls: [watched.url, page] }],
    retentionDays: 7,
  });
  const { id } = created;
  assert.deepEqual(created.schedule, { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" });
  assert.deepEqual([created.status, created.retentionDays, created.lastRunAt], ["active", 7, null]);
  assert.ok(Number.isInteger(created.estimatedCreditsPerMonth) && created.nextRunAt.endsWith("Z"));
  assert.equal((await sdk.listMonitors({ limit: 1 }))[0].id, id);
  assert.deepEqual(await sdk.listMonitors({ limit: 1, offset: 1000 }), []);
  assert.equal((await sdk.getMonitor(id)).name, "Lamp");
  const schedule = { text: "every 30 minutes" };
  const updated = await sdk.updateMonitor(id, { name: "Lamps", schedule, goal: "prices", judgeEnabled: false });
  assert.deepEqual([updated.name, updated.goal, updated.schedule.cron], ["Lamps", "prices", "*/30 * * * *"]);
  const runs = [];
  for (const price of [12, 14]) {
    watched.write(price);
    const { id: run, trigger } = await sdk.runMonitor(id);
    assert.equal(trigger, "manual");
    // With one page per request the client has to follow `next`.
    runs.push(await waitForCheck(() => sdk.getMonitorCheck(id, run, { limit: 1 })));
  }
  const [first, second] = runs;
  assert.deepEqual([first.status, first.summary.new, first.pages.length], ["completed", 2, 2]);
  assert.deepEqual([second.summary.changed, second.summary.same, second.pages.length], [1, 1, 2]);
  const { pages } = await sdk.getMonitorCheck(id, second.id, { status: "changed" });
  assert.deepEqual(pages.map(({ url, status }) => [url, status]), [[watched.url, "changed"]]);
  assert.deepEqual(changedLines(pages[0].diff), ["-It costs 12 euros.", "+It costs 14 euros."]);
  assert.equal(pages[0].diff.json.files.length, 1);
  const checks = await sdk.listMonitorChecks(id, { limit: 1, offset: 1 });
  assert.deepEqual(checks.map((check) => check.id), [first.id]);
  await sdk.updateMonitor(id, { status: "paused" });
  await assert.rejects(sdk.runMonitor(id), hasError(409, /paused/));
  await assert.rejects(sdk.createMonitor({ name: "Lamp", schedule: { text: "sometimes" }, targets: created.targets }), hasError(400, /schedule/));
  assert.equal(await sdk.deleteMonitor(id), true);
  await assert.rejects(sdk.getMonitor(id), hasError(404, /Monitor not found/));
});

if (hasSessions) {
  await check("branding", async () => {
    const { branding, warning } = await client(key).scrape(shop, { storeInCache: false, formats: ["branding"] });
    assert.equal(branding.colorScheme, "light");
    assert.equal(branding.colors.background.toUpperCase(), "#FFFFFF");
    assert.equal(branding.components.buttonPrimary.background.toUpperCase(), "#006633");
    assert.ok(["Arial", "Georgia"].every((name) => branding.fonts.some(({ family }) => family === name)), JSON.stringify(branding.fonts));
    if (hasModel) assert.deepEqual([branding.personality.tone, warning], ["minimalist", undefined]);
    else assert.match(warning, /no language model is configured/);
  });
  await check("browser sessions", async () => {
    const sdk = client(key);
    const name = newProfile();
    const session = await sdk.browser({ ttl: 120, activityTtl: 60, streamWebView: true, profile: { name, saveChanges: true } });
    const { id } = session;
    assert.ok(session.cdpUrl.startsWith("ws://") && session.liveViewUrl.startsWith(address) && session.expiresAt.endsWith("Z"));
    // The SDK runs bash unless the language is given.
    const opened = await sdk.browserExecute(id, { code: `agent-browser open ${page} && agent-browser get text h1` });
    assert.deepEqual([opened.success, opened.exitCode, lastLine(opened.stdout)], [true, 0, "Green tea"]);
    const node = 'await page.evaluate(() => localStorage.setItem("visits", "1")); console.log("set"); await page.title()';
    const read = await sdk.browserExecute(id, { code: node, language: "node", timeout: 20 });
    assert.deepEqual([read.stdout, read.result, read.exitCode, read.killed], ["set\n", "Green tea", 0, false]);
    const failed = await sdk.browserExecute(id, { code: 'console.log("before"); throw new Error("no tea")', language: "node" });
    assert.deepEqual([failed.success, failed.exitCode, failed.stdout], [true, 1, "before\n"]);
    assert.match(failed.error, /no tea/);
    const endless = await sdk.browserExecute(id, { code: "for (;;);", language: "node", timeout: 1 });
    assert.deepEqual([endless.killed, endless.exitCode], [true, 124]);
    const python = sdk.browserExecute(id, { code: "1", language: "python" });
    await assert.rejects(python, hasError(501, /python is not available/));
    const find = async (status) => (await sdk.listBrowsers({ status })).sessions.find((listed) => listed.id === id);
    assert.equal((await find("active")).cdpUrl, session.cdpUrl);
    await assert.rejects(sdk.browser({ profile: { name } }), hasError(409, /profile/));
    const ended = await sdk.deleteBrowser(id);
    assert.ok(ended.success && ended.sessionDurationMs > 0 && ended.creditsBilled === 2, JSON.stringify(ended));
    assert.deepEqual([await find("active"), (await find("destroyed")).cdpUrl], [undefined, ""]);
    assert.ok((await sdk.listBrowsers()).sessions.some((listed) => listed.id === id && listed.status === "destroyed"));
    await assert.rejects(sdk.browserExecute(id, { code: "get title" }), hasError(410, /destroyed/));
    assert.equal((await sdk.deleteBrowser(id)).creditsBilled, undefined);
    const next = await sdk.browser({ profile: { name, saveChanges: false } });
    const visits = `await page.goto("${page}"); await page.evaluate(() => localStorage.getItem("visits"))`;
    assert.equal((await sdk.browserExecute(next.id, { code: visits, language: "node" })).result, "1");
    await sdk.deleteBrowser(next.id);
  });

  await check("interact", async () => {
    const sdk = client(key);
    const { scrapeId } = (await sdk.scrape(page)).metadata;
    const prompted = sdk.interact(scrapeId, { prompt: "Click the link oolong" });
    if (hasModel) assert.equal((await prompted).output, "Oolong");
    else await assert.rejects(prompted, hasError(501, /no language model is configured/));
    const click = hasModel ? "" : 'await page.getByText("oolong").click();';
    const clicked = await sdk.interact(scrapeId, { code: `${click} await page.title()` });
    assert.deepEqual([clicked.success, clicked.result, clicked.exitCode, clicked.output], [true, "Oolong", 0, undefined]);
    assert.ok(clicked.interactiveLiveViewUrl.startsWith(address) && clicked.cdpUrl.startsWith("ws://"));
    const bash = await sdk.interact(scrapeId, { code: "agent-browser get url", language: "bash", timeout: 20 });
    assert.equal(bash.stdout, "http://tea.test/oolong.html\n");
    const failed = await sdk.interact(scrapeId, { code: 'throw new Error("no tea")' });
    assert.deepEqual([failed.success, failed.exitCode], [false, 1]);
    assert.match(failed.error, /no tea/);
    const stopped = await sdk.stopInteraction(scrapeId);
    assert.ok(stopped.success && stopped.sessionDurationMs > 0, JSON.stringify(stopped));
    assert.equal(stopped.creditsBilled, sessionCredits);
    await assert.rejects(sdk.interact(scrapeId, { code: "1" }), hasError(410, /destroyed/));
    await assert.rejects(sdk.interact("019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60", { code: "1" }), hasError(404, /Job not found\./));
  });
}
await check("feedback", async () => {
  const sdk = client(key);
  // The SDK does not return the ID of a search.
  const headers = { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const response = await fetch(new URL("/v2/search", address), { method: "POST", headers, body: JSON.stringify({ query: "tea" }) });
  const { id } = await response.json();
  const rating = { rating: "good", valuableSources: [{ url: page, reason: "complete" }] };
  await assert.rejects(sdk.searchFeedback(id, { rating: "good" }), hasError(400, /valuableSources/));
  const { feedbackId, creditsRefunded } = await sdk.searchFeedback(id, rating);
  assert.ok(feedbackId);
  assert.equal(creditsRefunded, 0);
  const repeated = await sdk.searchFeedback(id, { rating: "bad", querySuggestions: "oolong" });
  assert.deepEqual([repeated.alreadySubmitted, repeated.feedbackId], [true, feedbackId]);
  const { metadata } = await sdk.scrape(page);
  const rated = await sdk.feedback({ endpoint: "scrape", jobId: metadata.scrapeId, rating: "partial", issues: ["missing_table"], note: "cut", pageNumbers: [1], metadata: { depth: 1 } });
  assert.equal(rated.success, true);
  const unknown = { endpoint: "map", jobId: "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60", rating: "bad", note: "empty" };
  await assert.rejects(sdk.feedback(unknown), hasError(404, /No map/));
});

if (hasModel) {
  await check("agent", async () => {
    const sdk = client(key);
    const options = { urls: [page], prompt, schema, model: "spark-2", effort: "low", maxCredits: 50, pollInterval: 1, timeout: 120 };
    const run = await sdk.agent(options);
    assert.deepEqual([run.status, run.data, run.error], ["completed", sencha, undefined]);
    assert.deepEqual([run.creditsUsed, run.stopReason, run.model, run.effort], [credits, "succeeded", "spark-2", "low"]);
    const [listed] = (await sdk.listAgents()).agents;
    assert.deepEqual([listed.status, listed.targetHint, listed.options.prompt], ["completed", page, prompt]);
    const { events, creditsUsed } = await sdk.getAgentTrace(listed.id);
    assert.deepEqual([events[0].type, events.at(-1).type, creditsUsed], ["run.started", "run.finished", credits]);
    const { snapshotId } = events.findLast(({ type }) => type === "artifact.updated").artifact;
    const sources = JSON.parse((await sdk.getAgentSnapshot(listed.id, snapshotId)).snapshot);
    assert.equal(sources.find(({ pointer }) => pointer === "/grams").url, page);
    const second = await sdk.startAgent({ prompt: "And now?", threadId: run.threadId });
    assert.deepEqual((await waitForRun(() => sdk.getAgentStatus(second.id))).data, sencha);
    const { thread } = await sdk.getAgentThread(run.threadId, { includeData: true });
    assert.deepEqual(thread.runs.map(({ turn, data }) => [turn, data]), [[1, sencha], [2, sencha]]);
  });

  await check("cancellation of an agent run", async () => {
    const sdk = client(key);
    const { id } = await sdk.startAgent({ urls: [page], prompt: endless });
    assert.equal((await sdk.getAgentStatus(id)).status, "processing");
    assert.equal(await sdk.cancelAgent(id), true);
    const { status, stopReason, creditsUsed } = await waitForRun(() => sdk.getAgentStatus(id));
    assert.deepEqual([status, stopReason, creditsUsed], ["failed", "cancelled", 0]);
    await assert.rejects(sdk.cancelAgent(id), hasError(409, /already cancelled/));
  });

  await check("extract", async () => {
    const done = await client(key).extract({ ...extraction, showSources: true, pollInterval: 1, timeout: 120 });
    assert.deepEqual([done.status, done.data, done.creditsUsed], ["completed", teas, 10]);
    assert.deepEqual(Object.keys(done.sources).sort(), ["teas[0]", "teas[1]"]);
  });
} else {
  await check("extract without a model", async () => {
    const sdk = client(key);
    await assert.rejects(sdk.extract({ urls: [page], prompt: "The teas", showSources: true }), hasError(501, /\[llm\]/));
    await assert.rejects(sdk.startExtract({ urls: [] }), hasError(400, /urls or prompt is required/));
    await assert.rejects(sdk.getExtractStatus("019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60"), hasError(404, /Extract job not found/));
  });

  await check("agent without a model", async () => {
    const sdk = client(key);
    await assert.rejects(sdk.agent({ prompt: "What does tea cost?", urls: [page] }), hasError(501, /\[llm\]/));
    assert.deepEqual((await sdk.listAgents()).agents, []);
    const unknown = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
    await assert.rejects(sdk.getAgentStatus(unknown), hasError(404, /not found/));
    await assert.rejects(sdk.cancelAgent(unknown), hasError(404, /not found/));
  });
}

await check("a value over its limit is a bad request", async () => {
  await assert.rejects(client(key).search("x".repeat(501)), hasError(400, /query/));
  await assert.rejects(client(key).search("tea", { limit: 101 }), hasError(400, /limit/));
});

if (key) {
  await check("a wrong or missing key is unauthorized", async () => {
    await assert.rejects(client("fc-wrong").search("tea"), hasError(401, /Invalid token/));
    await assert.rejects(client(undefined).search("tea"), hasError(401, /Token missing/));
  });
} else {
  await check("no key is required", async () => {
    const found = await client("fc-whatever").search("green tea water");
    assert.equal(found.web[0].url, page);
  });
}
