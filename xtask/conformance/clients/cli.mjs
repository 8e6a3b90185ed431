// Checks the official command line client against a running service: `cli.mjs ADDRESS [KEY]`.
// For a rejected search the client prints only the status, so the checks compare only the status.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { credits, endless, hasModel, prompt, schema, sencha, sessionCredits } from "./agent.mjs";
import {
  WatchedPage, address, announce, changedLines, check, hasSessions, key, lastLine, newProfile, page, shop, waitForCheck,
} from "./checks.mjs";

const { bin } = announce("firecrawl-cli");
const program = join(dirname(createRequire(import.meta.url).resolve("firecrawl-cli/package.json")), bin.firecrawl);

/** Runs a search and waits for it; sends no key if it is null. */
function runSearch(key, ...options) {
  return runJson("search", key, ...options);
}

/** Runs a command with JSON output. */
function runJson(name, key, ...options) {
  return execute(name, key, ...options, "--json");
}

/** Runs a command and returns its exit status and output. */
function execute(name, key, ...options) {
  const keyOptions = key ? ["--api-key", key] : [];
  const argv = [program, name, ...options, "--api-url", address, ...keyOptions];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      resolve({ status: error ? error.code : 0, stdout, stderr });
    });
  });
}

/** Runs a search that must succeed and returns its results. */
async function search(...options) {
  const { status, stdout, stderr } = await runSearch(key, ...options);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout).data;
}

/** Runs a search that must fail with this HTTP status. */
async function expectRejected(key, status, ...options) {
  const result = await runSearch(key, ...options);
  assert.equal(result.status, 1, result.stdout);
  assert.match(result.stderr, new RegExp(`status code ${status}`));
}

await check("search", async () => {
  const { web } = await search("green tea water");
  assert.equal(web[0].url, page);
  assert.equal(web[0].title, "Green tea");
  assert.match(web[0].description, /green tea/i);
});

await check("search with scraping", async () => {
  const { web } = await search("green tea water", "--scrape", "--scrape-formats", "markdown,links");
  assert.match(web[0].markdown, /^# Green tea[^]*Sencha/);
  assert.deepEqual(web[0].links, ["http://tea.test/oolong.html"]);
  assert.equal(web[0].metadata.sourceURL, page);
});

await check("search with filters", async () => {
  const found = await search("tea", "--limit", "1", "--sources", "web,news", "--country", "DE", "--no-highlights");
  assert.equal(found.web.length, 1);
});

await check("map", async () => {
  const { status, stdout, stderr } = await runJson("map", key, "http://tea.test/", "--limit", "2", "--search", "oolong");
  assert.equal(status, 0, stderr);
  const response = JSON.parse(stdout);
  const { links } = response.data ?? response;
  assert.equal(links.length, 2);
  assert.equal(links[0].url, "http://tea.test/oolong.html");
});

await check("scrape", async () => {
  const { status, stdout, stderr } = await runJson("scrape", key, page);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Green tea[^]*Sencha/);
});

await check("scrape with a format whose options it cannot send", async () => {
  // The client sends only the name of the format, without selectors, and does not print the warning.
  const { status, stdout, stderr } = await execute("scrape", key, page, "--format", "markdown,attributes");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /# Green tea/);
});

await check("scrape several pages", async () => {
  const urls = [page, "http://tea.test/oolong.html"];
  const { status, stderr } = await execute("scrape", key, ...urls, "--format", "markdown");
  assert.equal(status, 0, stderr);
  assert.match(stderr, /2\/2/);
});

/** Runs a crawl command that must succeed and returns the output that it writes to a file. */
async function crawl(...options) {
  const { status, stderr } = await execute("crawl", key, ...options, "--output", "crawl.json");
  assert.equal(status, 0, stderr);
  const output = JSON.parse(readFileSync("crawl.json", "utf8"));
  // For a new crawl the client writes the whole response, otherwise only the data.
  return output.success ? output.data : output;
}

await check("crawl", async () => {
  const job = await crawl("http://tea.test/", "--limit", "10", "--sitemap", "skip", "--wait", "--poll-interval", "1");
  const pages = job.data.map(({ metadata }) => metadata.sourceURL);
  assert.deepEqual([job.status, job.completed, new Set(pages).size], ["completed", pages.length, pages.length]);
  assert.ok(pages.includes(page) && job.data.every(({ markdown }) => markdown));
});

await check("crawl status and cancellation", async () => {
  // One page per minute and none from the cache: the crawl runs until it is cancelled.
  const slow = ["--delay", "60", "--exclude-paths", "never,again", "--scrape-options", '{"maxAge":0}'];
  const { jobId } = await crawl("http://tea.test/", ...slow);
  const crawlStatus = await crawl(jobId);
  assert.deepEqual([crawlStatus.id, crawlStatus.status], [jobId, "scraping"]);
  assert.equal((await crawl(jobId, "--cancel")).status, "cancelled");
  assert.equal((await crawl(jobId, "--status")).status, "cancelled");
});

await check("parse", async () => {
  writeFileSync("tea.html", "<main><h1>Tea</h1><p>Of leaves.</p></main>");
  const { status, stdout, stderr } = await runJson("parse", key, "tea.html");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /# Tea[^]*Of leaves/);
});

/** Runs a command for monitors that must succeed, and returns the response. Without authentication it still wants a key. */
async function monitor(...options) {
  const { status, stdout, stderr } = await execute("monitor", key ?? "fc-any", ...options);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Runs a command for agent runs, and returns its exit status and output. */
const agent = (...options) => execute("agent", key ?? "fc-any", ...options, "--json");

if (hasModel) {
  await check("agent", async () => {
    const options = ["--urls", page, "--schema", JSON.stringify(schema), "--model", "spark-1-mini", "--max-credits", "50"];
    const done = await agent(prompt, ...options, "--wait", "--poll-interval", "0.5", "--timeout", "120");
    assert.equal(done.status, 0, done.stderr);
    const { id, status, data, creditsUsed } = JSON.parse(done.stdout);
    assert.deepEqual([status, data, creditsUsed], ["completed", sencha, credits]);
    assert.deepEqual(JSON.parse((await agent(id, "--status")).stdout).data, sencha);
  });

  await check("cancellation of an agent run", async () => {
    const started = await agent(endless, "--urls", page);
    assert.equal(started.status, 0, started.stderr);
    const { jobId } = JSON.parse(started.stdout).data;
    assert.equal(JSON.parse((await agent(jobId)).stdout).status, "processing");
    const cancelled = await agent(jobId, "--cancel");
    assert.equal(cancelled.status, 0, cancelled.stderr);
    const ended = await agent(jobId, "--wait", "--poll-interval", "0.2");
    assert.match(ended.stderr, /cancelled/);
    const again = await agent(jobId, "--cancel");
    assert.equal(again.status, 1, again.stdout);
    assert.match(again.stderr, /already cancelled/);
  });
} else {
  await check("agent without a model", async () => {
    const { status, stdout, stderr } = await agent("What does tea cost?", "--urls", page);
    assert.notEqual(status, 0, stdout);
    assert.match(stdout + stderr, /\[llm\]|501/);
  });
}

await check("monitor", async () => {
  const watched = new WatchedPage();
  const urls = `${watched.url},${page}`;
  const options = ["--schedule", "every day at 9:00", "--timezone", "Europe/Berlin", "--scrape-urls", urls];
  const { data: created } = await monitor("create", "--name", "Lamp", ...options, "--retention-days", "7");
  const { id } = created;
  assert.deepEqual([created.schedule, created.retentionDays], [{ cron: "0 9 * * *", timezone: "Europe/Berlin" }, 7]);
  assert.equal((await monitor("list", "--limit", "1")).data[0].id, id);
  assert.equal((await monitor("get", id)).data.name, "Lamp");
  // A time zone alone keeps the times.
  const { data: updated } = await monitor("update", id, "--name", "Lamps", "--timezone", "Asia/Tokyo");
  assert.deepEqual([updated.name, updated.schedule], ["Lamps", { cron: "0 9 * * *", timezone: "Asia/Tokyo" }]);
  const runs = [];
  for (const price of [12, 14]) {
    watched.write(price);
    const { id: run } = await monitor("run", id);
    runs.push(await waitForCheck(async () => (await monitor("check", id, run)).data));
  }
  assert.deepEqual(runs.map(({ summary }) => [summary.new, summary.changed, summary.same]), [[2, 0, 0], [0, 1, 1]]);
  const changed = await monitor("check", id, runs[1].id, "--page-status", "changed");
  assert.deepEqual(changedLines(changed.data.pages[0].diff), ["-It costs 12 euros.", "+It costs 14 euros."]);
  const part = await monitor("check", id, runs[1].id, "--limit", "1");
  assert.equal(part.next, `${address}/v2/monitor/${id}/checks/${runs[1].id}?skip=1&limit=1`);
  assert.equal((await monitor("check", id, runs[1].id, "--limit", "1", "--skip", "1")).next, undefined);
  const checks = await monitor("checks", id, "--limit", "1", "--offset", "1");
  assert.deepEqual(checks.data.map((check) => check.id), [runs[0].id]);
  await monitor("update", id, "--state", "paused");
  const paused = await execute("monitor", key ?? "fc-any", "run", id);
  assert.equal(paused.status, 1, paused.stdout);
  assert.match(paused.stderr, /paused/);
  assert.equal((await monitor("delete", id)).success, true);
  const deleted = await execute("monitor", key ?? "fc-any", "get", id);
  assert.match(deleted.stderr, /Monitor not found/);
});

/** Runs a command that must succeed, with a key even without authentication, and returns its output. */
async function use(name, ...options) {
  const result = await execute(name, key ?? "fc-any", ...options);
  assert.equal(result.status, 0, result.stdout + result.stderr);
  return result;
}

if (hasSessions) {
  await check("branding", async () => {
    // A page with actions is not stored in the index, where other checks would find it.
    const actions = ["--actions", '[{"type":"wait","milliseconds":1}]'];
    const { status, stdout, stderr } = await execute("scrape", key, shop, "--format", "markdown,branding", ...actions);
    assert.equal(status, 0, stderr);
    const { branding } = JSON.parse(stdout);
    assert.equal(branding.colorScheme, "light");
    assert.equal(branding.components.buttonPrimary.background.toUpperCase(), "#006633");
  });

  await check("browser sessions", async () => {
    const options = ["--ttl", "120", "--ttl-inactivity", "60", "--profile", newProfile()];
    const launched = (await use("browser", "launch-session", ...options)).stdout;
    const [, id] = launched.match(/^Session ID: +(\S+)$/m);
    assert.ok(launched.includes("CDP URL:       ws://") && launched.includes(`Live View URL: ${address}`), launched);
    // The last launched session is used, and each line is a command of agent-browser.
    assert.match((await use("browser", "execute", `open ${page}`)).stdout, /Green tea/);
    assert.match((await use("browser", "snapshot -i")).stdout, /link "oolong" \[ref=e\d+\]/);
    const node = await use("browser", "execute", "--node", "({ title: await page.title() })", "--session", id);
    assert.equal(node.stdout.trim(), '{"title":"Green tea"}');
    const failed = await use("browser", "execute", "--node", 'console.log("before"); throw new Error("no tea")');
    assert.match(failed.stderr, /Code error: [^]*no tea/);
    assert.match(failed.stdout, /before/);
    assert.match((await use("browser", "list", "active")).stdout, new RegExp(`${id}  active`));
    assert.match((await use("browser", "close")).stdout, new RegExp(`Session closed \\(${id}\\)`));
    assert.match((await use("browser", "list", "destroyed")).stdout, new RegExp(`${id}  destroyed`));
    const late = await execute("browser", key ?? "fc-any", "execute", "get title", "--session", id);
    assert.equal(late.status, 1, late.stdout);
    assert.match(late.stderr, /has expired or been destroyed/);
    // The quick form launches a session if there is none.
    const quick = await use("browser", "get url");
    assert.match(quick.stderr, /Session launched/);
    assert.equal(lastLine(quick.stdout), "about:blank");
    await use("browser", "close");
  });

  await check("interact", async () => {
    await use("scrape", page);
    const prompted = await execute("interact", key ?? "fc-any", "Click the link oolong");
    if (hasModel) {
      assert.equal(prompted.status, 0, prompted.stderr);
      assert.match(prompted.stdout, /Oolong/);
    } else {
      assert.equal(prompted.status, 1, prompted.stdout);
      assert.match(prompted.stderr, /no language model is configured/);
    }
    const click = hasModel ? "" : 'await page.getByText("oolong").click();';
    const clicked = await use("interact", "--code", `${click} await page.title()`, "--json");
    const { success, result, sessionId } = JSON.parse(clicked.stdout);
    assert.deepEqual([success, result, typeof sessionId], [true, "Oolong", "string"]);
    const bash = await use("interact", "--code", "agent-browser get url", "--bash", "--timeout", "20");
    assert.equal(bash.stdout.trim(), "http://tea.test/oolong.html");
    assert.match(bash.stderr, /Live View: http/);
    const failed = await execute("interact", key ?? "fc-any", "--code", 'throw new Error("no tea")');
    assert.equal(failed.status, 1, failed.stdout);
    assert.match(failed.stderr, /Error: [^]*no tea/);
    const stopped = await use("interact", "stop");
    assert.match(stopped.stdout, new RegExp(`Session stopped[^]*Duration: [^]*Credits billed: ${sessionCredits}`));
    const [, scrape] = stopped.stdout.match(/Session stopped \((\S+)\)/);
    const late = await execute("interact", key ?? "fc-any", "--scrape-id", scrape, "--code", "1");
    assert.match(late.stderr, /destroyed/);
  });
}
await check("feedback", async () => {
  const found = await runSearch(key, "green tea water");
  const { id } = JSON.parse(found.stdout);
  const send = (...options) => execute("search-feedback", key ?? "fc-any", id, "--json", ...options);
  const sources = ["--rating", "good", "--valuable-sources", `${page},http://tea.test/`];
  const stored = await send(...sources);
  assert.equal(stored.status, 0, stored.stderr);
  const { success, feedbackId, creditsRefunded } = JSON.parse(stored.stdout);
  assert.ok(success && feedbackId && creditsRefunded === 0, stored.stdout);
  assert.equal(JSON.parse((await send(...sources)).stdout).alreadySubmitted, true);
  const other = await execute("feedback", key ?? "fc-any", "search", id, "--rating", "bad", "--note", "too old", "--issues", "stale", "--json");
  // Less than a rating of a search needs does not count as one.
  assert.equal(other.status, 1, other.stdout);
  assert.match(other.stderr, /missingContent/);
  const unknown = await execute("feedback", key ?? "fc-any", "map", "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60", "--rating", "bad", "--note", "empty");
  assert.equal(unknown.status, 1, unknown.stdout);
  assert.match(unknown.stderr, /No map[^]*JOB_NOT_FOUND/);
});

await check("usage", async () => {
  const { status, stdout, stderr } = await runJson("credit-usage", key);
  assert.equal(status, 0, stderr);
  const { data } = JSON.parse(stdout);
  assert.ok(data.remainingCredits > 0 && data.planCredits === null);
});

await check("a value over its limit is a bad request", () => expectRejected(key, 400, "x".repeat(501)));

if (key) {
  await check("a wrong key is unauthorized", () => expectRejected("fc-wrong", 401, "tea"));
  await check("a missing key is unauthorized", () => expectRejected(null, 401, "tea"));
} else {
  await check("no key is required", async () => {
    const { status, stderr } = await runSearch("fc-whatever", "tea");
    assert.equal(status, 0, stderr);
  });
}
