// The official command line against a running service: `cli.mjs ADDRESS [KEY]`.
// Of a refused search it prints no more than the status, so the checks can ask for no more.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { address, announce, check, key, page } from "./checks.mjs";

const { bin } = announce("firecrawl-cli");
const program = join(dirname(createRequire(import.meta.url).resolve("firecrawl-cli/package.json")), bin.firecrawl);

/** Runs a search to its end; a null key is left out. */
function run(key, ...options) {
  return command("search", key, ...options);
}

function command(name, key, ...options) {
  return execute(name, key, ...options, "--json");
}

function execute(name, key, ...options) {
  const keyed = key ? ["--api-key", key] : [];
  const argv = [program, name, ...options, "--api-url", address, ...keyed];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      resolve({ status: error ? error.code : 0, stdout, stderr });
    });
  });
}

/** Returns what a search prints, which has to succeed. */
async function search(...options) {
  const { status, stdout, stderr } = await run(key, ...options);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout).data;
}

async function refused(key, status, ...options) {
  const answer = await run(key, ...options);
  assert.equal(answer.status, 1, answer.stdout);
  assert.match(answer.stderr, new RegExp(`status code ${status}`));
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
  const { status, stdout, stderr } = await command("map", key, "http://tea.test/", "--limit", "2", "--search", "oolong");
  assert.equal(status, 0, stderr);
  const answer = JSON.parse(stdout);
  const { links } = answer.data ?? answer;
  assert.equal(links.length, 2);
  assert.equal(links[0].url, "http://tea.test/oolong.html");
});

await check("scrape", async () => {
  const { status, stdout, stderr } = await command("scrape", key, page);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Green tea[^]*Sencha/);
});

await check("scrape of several pages", async () => {
  const urls = [page, "http://tea.test/oolong.html"];
  const { status, stderr } = await execute("scrape", key, ...urls, "--format", "markdown");
  assert.equal(status, 0, stderr);
  assert.match(stderr, /2\/2/);
});

/** Runs a crawl's command, which has to succeed, and returns what it writes into a file. */
async function crawl(...options) {
  const { status, stderr } = await execute("crawl", key, ...options, "--output", "crawl.json");
  assert.equal(status, 0, stderr);
  const written = JSON.parse(readFileSync("crawl.json", "utf8"));
  // Of a crawl that begins it writes the whole answer, of others the data alone.
  return written.success ? written.data : written;
}

await check("crawl", async () => {
  const job = await crawl("http://tea.test/", "--limit", "10", "--sitemap", "skip", "--wait", "--poll-interval", "1");
  const pages = job.data.map(({ metadata }) => metadata.sourceURL);
  assert.deepEqual([job.status, job.completed, new Set(pages).size], ["completed", pages.length, pages.length]);
  assert.ok(pages.includes(page) && job.data.every(({ markdown }) => markdown));
});

await check("the state of a crawl, and its end", async () => {
  // One page in a minute, none from the cache: it runs until it is cancelled.
  const slow = ["--delay", "60", "--exclude-paths", "never,again", "--scrape-options", '{"maxAge":0}'];
  const { jobId } = await crawl("http://tea.test/", ...slow);
  const state = await crawl(jobId);
  assert.deepEqual([state.id, state.status], [jobId, "scraping"]);
  assert.equal((await crawl(jobId, "--cancel")).status, "cancelled");
  assert.equal((await crawl(jobId, "--status")).status, "cancelled");
});

await check("parse", async () => {
  writeFileSync("tea.html", "<main><h1>Tea</h1><p>Of leaves.</p></main>");
  const { status, stdout, stderr } = await command("parse", key, "tea.html");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /# Tea[^]*Of leaves/);
});

await check("usage", async () => {
  const { status, stdout, stderr } = await command("credit-usage", key);
  assert.equal(status, 0, stderr);
  const { data } = JSON.parse(stdout);
  assert.ok(data.remainingCredits > 0 && data.planCredits === null);
});

await check("values over the limits are a bad request", () => refused(key, 400, "x".repeat(501)));

if (key) {
  await check("a wrong key is unauthorized", () => refused("fc-wrong", 401, "tea"));
  await check("a missing key is unauthorized", () => refused(null, 401, "tea"));
} else {
  await check("no key is asked for", async () => {
    const { status, stderr } = await run("fc-whatever", "tea");
    assert.equal(status, 0, stderr);
  });
}
