// Checks the official MCP server over stdio, connected to a running service: `mcp.mjs ADDRESS [KEY]`.
// For some failures it reports only the status to the model, so the checks accept the status alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { credits, endless, hasModel, prompt, schema, sencha, waitForRun } from "./agent.mjs";
import { WatchedPage, address, announce, brochure, changedLines, check, hasSessions, key, page, shop, waitForCheck } from "./checks.mjs";

const { bin } = announce("firecrawl-mcp");
const program = join(dirname(createRequire(import.meta.url).resolve("firecrawl-mcp/package.json")), bin["firecrawl-mcp"]);

/** A process of the MCP server with this key. Messages are JSON, one per line. */
class Server {
  #process;
  #pending = new Map();
  #sent = 0;

  constructor(key) {
    const env = { ...process.env, FIRECRAWL_API_URL: address };
    if (key) env.FIRECRAWL_API_KEY = key;
    this.#process = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "ignore"] });
    this.#process.on("exit", () => this.#pending.forEach(({ reject }) => reject(new Error("the MCP server ended"))));
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) pending?.reject(new Error(error.message));
      else pending?.resolve(result);
    });
  }

  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params) {
    const id = ++this.#sent;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  async initialize() {
    const clientInfo = { name: "websvc-conformance", version: "1" };
    const result = await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
    return result;
  }

  /** Calls the search tool and returns its error flag and text. */
  search(options) {
    return this.call("firecrawl_search", options);
  }

  /** Calls a tool and returns its error flag and text. */
  async call(name, options) {
    const result = await this.request("tools/call", { name, arguments: options });
    return { failed: result.isError ?? false, text: result.content[0].text };
  }

  /** Runs a search that must succeed and returns the results. */
  async find(options) {
    const { failed, text } = await this.search(options);
    assert.ok(!failed, text);
    return JSON.parse(text);
  }

  /** Runs a tool call that must succeed and returns its text. */
  async use(name, options) {
    const { failed, text } = await this.call(name, options);
    assert.ok(!failed, text);
    return text;
  }

  stop() {
    this.#process.kill();
  }
}

async function withServer(key, run) {
  const server = new Server(key);
  try {
    await server.initialize();
    await run(server);
  } finally {
    server.stop();
  }
}

await check("initialize and list the tools", async () => {
  const server = new Server(key);
  try {
    assert.ok((await server.initialize()).serverInfo.name);
    const { tools } = await server.request("tools/list", {});
    assert.ok(tools.some(({ name }) => name === "firecrawl_search"));
  } finally {
    server.stop();
  }
});

await check(`search with default sources${key ? " (web and alexandria)" : ""}`, () =>
  withServer(key, async (server) => {
    const { data } = await server.find({ query: "green tea water" });
    assert.equal(data.web[0].url, page);
    assert.equal(data.web[0].title, "Green tea");
  }),
);

await check("search with scraping", () =>
  withServer(key, async (server) => {
    const { data } = await server.find({
      query: "green tea water",
      sources: [{ type: "web" }],
      scrapeOptions: { formats: ["markdown", "links"], onlyMainContent: true },
    });
    assert.match(data.web[0].markdown, /^# Green tea[^]*Sencha/);
    assert.deepEqual(data.web[0].links, ["http://tea.test/oolong.html"]);
    assert.equal(data.web[0].metadata.sourceURL, page);
  }),
);

await check("search with filters", () =>
  withServer(key, async (server) => {
    const { data } = await server.find({ query: "tea", limit: 1, includeDomains: ["tea.test"], tbs: "sbd:1" });
    assert.equal(data.web.length, 1);
  }),
);

await check("map", () =>
  withServer(key, async (server) => {
    const { failed, text } = await server.call("firecrawl_map", { url: "http://tea.test/", search: "oolong", limit: 1 });
    assert.ok(!failed, text);
    assert.match(text, /http:\/\/tea\.test\/oolong\.html/);
    assert.doesNotMatch(text, /green\.html/);
  }),
);

await check("scrape", () =>
  withServer(key, async (server) => {
    const text = await server.use("firecrawl_scrape", { url: page, formats: ["markdown", "links"], onlyMainContent: true });
    assert.match(text, /Green tea[^]*Sencha/);
    assert.match(text, /oolong\.html/);
  }),
);

await check("scrape of a PDF with a page limit", () =>
  withServer(key, async (server) => {
    const options = { url: brochure, storeInCache: false, formats: ["markdown"], parsers: ["pdf"], pdfOptions: { maxPages: 1 } };
    const { markdown, metadata } = JSON.parse(await server.use("firecrawl_scrape", options));
    assert.match(markdown, /^# Teas of the year/);
    assert.deepEqual([metadata.numPages, metadata.totalPages], [1, 2]);
  }),
);

await check("crawl and its status", () =>
  withServer(key, async (server) => {
    const options = { url: "http://tea.test/", limit: 10, sitemap: "skip", scrapeOptions: { formats: ["markdown"] } };
    const job = JSON.parse(await server.use("firecrawl_crawl", options));
    const pages = job.data.map(({ metadata }) => metadata.sourceURL);
    assert.deepEqual([job.status, job.completed, new Set(pages).size], ["completed", pages.length, pages.length]);
    assert.ok(pages.includes(page) && job.data.every(({ markdown }) => markdown));
    const crawlStatus = JSON.parse(await server.use("firecrawl_check_crawl_status", { id: job.id }));
    assert.deepEqual([crawlStatus.id, crawlStatus.status, crawlStatus.completed], [job.id, "completed", job.completed]);
  }),
);

await check("parse", () =>
  withServer(key, async (server) => {
    const filePath = resolve("tea-of-the-model.html");
    writeFileSync(filePath, "<main><h1>Tea</h1><p>Of leaves.</p></main>");
    const text = await server.use("firecrawl_parse", { filePath, formats: ["markdown"] });
    assert.match(text, /# Tea[^]*Of leaves/);
  }),
);

await check("monitor", () =>
  withServer(key, async (server) => {
    const use = async (name, options) => JSON.parse(await server.use(`firecrawl_monitor_${name}`, options));
    const watched = new WatchedPage();
    const options = { pages: [watched.url, page], goal: "The price changes.", email: "lamp@lamp.test", webhookUrl: "http://lamp.test/hook" };
    const { data: created } = await use("create", options);
    const { id } = created;
    assert.deepEqual([created.name, created.goal], [`Monitor ${watched.url}`, "The price changes."]);
    assert.deepEqual(created.schedule, { cron: "*/30 * * * *", timezone: "UTC" });
    assert.equal(created.webhook.url, "http://lamp.test/hook");
    assert.deepEqual(created.notification.email.recipients, ["lamp@lamp.test"]);
    const body = { name: "Cron", schedule: { cron: "0 9 * * *" }, targets: [{ type: "crawl", url: "http://tea.test/" }] };
    const { data: advanced } = await use("create", { body });
    assert.equal((await use("list", { limit: 1 })).data[0].id, advanced.id);
    assert.equal((await use("delete", { id: advanced.id })).success, true);
    assert.equal((await use("get", { id })).data.status, "active");
    // Without a language model each change would be reported as not judged.
    const { data: updated } = await use("update", { id, body: { name: "Lamps", judgeEnabled: false, webhook: null } });
    assert.deepEqual([updated.name, updated.webhook], ["Lamps", null]);
    const runs = [];
    for (const price of [12, 14]) {
      watched.write(price);
      const { id: checkId } = await use("run", { id });
      runs.push(await waitForCheck(async () => (await use("check", { id, checkId })).data));
    }
    assert.deepEqual(runs.map(({ summary }) => [summary.new, summary.changed, summary.same]), [[2, 0, 0], [0, 1, 1]]);
    const changed = await use("check", { id, checkId: runs[1].id, pageStatus: "changed" });
    assert.deepEqual(changedLines(changed.data.pages[0].diff), ["-It costs 12 euros.", "+It costs 14 euros."]);
    const part = await use("check", { id, checkId: runs[1].id, limit: 1 });
    assert.match(part.next, /skip=1&limit=1$/);
    const checks = await use("checks", { id, limit: 1, status: "completed" });
    assert.deepEqual(checks.data.map((check) => check.id), [runs[1].id]);
    await use("update", { id, body: { status: "paused" } });
    const paused = await server.call("firecrawl_monitor_run", { id });
    assert.ok(paused.failed && /paused/.test(paused.text), paused.text);
    assert.equal((await use("delete", { id })).success, true);
    const deleted = await server.call("firecrawl_monitor_get", { id });
    assert.ok(deleted.failed && /Monitor not found/.test(deleted.text), deleted.text);
  }),
);

if (hasSessions) {
  await check("branding", () =>
    withServer(key, async (server) => {
      const { branding } = JSON.parse(await server.use("firecrawl_scrape", { url: shop, storeInCache: false, formats: ["branding"] }));
      assert.equal(branding.colorScheme, "light");
      assert.equal(branding.components.buttonPrimary.background.toUpperCase(), "#006633");
    }),
  );

  await check("interact", () =>
    withServer(key, async (server) => {
      const use = async (name, options) => JSON.parse(await server.use(name, options));
      const click = 'await page.getByText("oolong").click(); await page.title()';
      const scrapeOptions = { formats: ["markdown"], waitFor: 1 };
      const opened = await use("firecrawl_interact", { url: page, code: click, scrapeOptions });
      assert.deepEqual([opened.success, opened.result, opened.exitCode], [true, "Oolong", 0]);
      assert.ok(opened.liveViewUrl.startsWith(address));
      const { scrapeId } = opened;
      const bash = await use("firecrawl_interact", { scrapeId, code: "agent-browser get url", language: "bash", timeout: 20 });
      assert.equal(bash.stdout, "http://tea.test/oolong.html\n");
      const failed = await use("firecrawl_interact", { scrapeId, code: 'throw new Error("no tea")', language: "node" });
      assert.deepEqual([failed.success, failed.exitCode], [false, 1]);
      assert.match(failed.stderr, /no tea/);
      const prompted = await server.call("firecrawl_interact", { scrapeId, prompt: "Click the link oolong" });
      const expected = hasModel ? /Oolong/ : /no language model is configured/;
      assert.ok(prompted.failed !== hasModel && expected.test(prompted.text), prompted.text);
      const stopped = await use("firecrawl_interact_stop", { scrapeId });
      assert.equal(stopped.success, true);
      const late = await server.call("firecrawl_interact", { scrapeId, code: "1" });
      assert.ok(late.failed && /destroyed/.test(late.text), late.text);
    }),
  );
}
await check("feedback", () =>
  withServer(key, async (server) => {
    // The server has no feedback tools if it is started without a key.
    const { tools } = await server.request("tools/list", {});
    if (!tools.some(({ name }) => name === "firecrawl_search_feedback")) return assert.equal(key, undefined);
    const { id: searchId } = await server.find({ query: "green tea water" });
    const rating = { searchId, rating: "good", valuableSources: [{ url: page, reason: "complete" }] };
    const { success, feedbackId } = JSON.parse(await server.use("firecrawl_search_feedback", rating));
    assert.ok(success && feedbackId);
    const repeated = JSON.parse(await server.use("firecrawl_feedback", { endpoint: "search", jobId: searchId, rating: "good", note: "as before", valuableSources: [{ url: page, reason: "complete" }] }));
    assert.deepEqual([repeated.alreadySubmitted, repeated.feedbackId], [true, feedbackId]);
    const jobId = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
    const unknown = JSON.parse(await server.use("firecrawl_feedback", { endpoint: "map", jobId, rating: "bad", note: "empty" }));
    assert.deepEqual([unknown.success, unknown.status, unknown.feedbackErrorCode], [false, 404, "JOB_NOT_FOUND"]);
  }),
);

if (hasModel) {
  await check("agent", () =>
    withServer(key, async (server) => {
      const use = async (name, options) => JSON.parse(await server.use(name, options));
      // A run that may read one page only ends when it has collected it.
      const strictCredits = credits - 1;
      const options = { prompt, urls: [page], schema, effort: "low", maxCredits: 50, strictConstrainToURLs: true };
      const { id, threadId } = await use("firecrawl_agent", options);
      const run = await waitForRun(() => use("firecrawl_agent_status", { id }));
      assert.deepEqual([run.status, run.data, run.creditsUsed], ["completed", sencha, strictCredits]);
      const { id: second, threadTurn } = await use("firecrawl_agent", { prompt: "And now?", threadId });
      assert.equal(threadTurn, 2);
      assert.deepEqual((await waitForRun(() => use("firecrawl_agent_status", { id: second }))).data, sencha);
      const { id: waiting } = await use("firecrawl_agent", { prompt: endless, urls: [page] });
      assert.equal((await use("firecrawl_agent_status", { id: waiting })).status, "processing");
      // The server has no tool for the cancellation.
      const headers = key ? { authorization: `Bearer ${key}` } : {};
      assert.ok((await fetch(new URL(`/v2/agent/${waiting}`, address), { method: "DELETE", headers })).ok);
      const ended = await waitForRun(async () => {
        const { text } = await server.call("firecrawl_agent_status", { id: waiting });
        return JSON.parse(text);
      });
      assert.equal(ended.status, "failed");
    }),
  );
} else {
  await check("agent without a model", () =>
    withServer(key, async (server) => {
      const { failed, text } = await server.call("firecrawl_agent", { prompt: "What does tea cost?", urls: [page] });
      assert.ok(failed, text);
      assert.match(text, /\[llm\]|501/);
    }),
  );
}

await check("an operation that is not offered is reported, and the server continues", () =>
  withServer(key, async (server) => {
    const { failed, text } = await server.call("firecrawl_research_search_papers", { query: "tea" });
    assert.ok(failed || /404|not offer/.test(text), text);
    await server.find({ query: "green tea water" });
  }),
);

await check("a value over its limit is a bad request", () =>
  withServer(key, async (server) => {
    const { failed, text } = await server.search({ query: "x".repeat(501) });
    assert.ok(failed, text);
    assert.match(text, /Invalid request body|status code 400/);
  }),
);

if (key) {
  await check("a wrong or missing key is unauthorized", async () => {
    for (const [wrong, reason] of [["fc-wrong", /Invalid token|status code 401/], [null, /Token missing|status code 401/]]) {
      await withServer(wrong, async (server) => {
        const { failed, text } = await server.search({ query: "tea" });
        assert.ok(failed, text);
        assert.match(text, reason);
      });
    }
  });
}
