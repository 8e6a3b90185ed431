// Checks the MCP tools of the service with the official MCP SDK, over HTTP and over the standard streams of `websvc mcp`:
// `mcp_sdk.mjs ADDRESS [KEY]`. WEBSVC_MCP is the command of the MCP server as a JSON array.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { credits, hasModel, prompt, schema, sencha, sessionCredits, waitForRun } from "./agent.mjs";
import { WatchedPage, address, changedLines, check, hasSessions, key, page, waitForCheck } from "./checks.mjs";

console.log("client @modelcontextprotocol/sdk");

const [command, ...args] = JSON.parse(process.env.WEBSVC_MCP);

const http = (token, headers = {}) =>
  new StreamableHTTPClientTransport(new URL("/mcp", address), { requestInit: { headers: token ? { authorization: `Bearer ${token}`, ...headers } : headers } });
const transports = { HTTP: () => http(key), stdio: () => new StdioClientTransport({ command, args, stderr: "ignore" }) };

async function withClient(transport, run) {
  const client = new Client({ name: "websvc-conformance", version: "1" });
  await client.connect(transport);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

/** Calls a tool and returns its JSON result, without the markers around untrusted content. */
async function call(client, name, options) {
  const { content, isError } = await client.callTool({ name, arguments: options });
  if (isError) return { failed: content[0].text };
  const [, marker, json] = content[1].text.match(/^<untrusted-([0-9a-f]+)>\n([^]*)\n<\/untrusted-\1>$/);
  assert.ok(content[0].text.includes(marker) && content[0].text.includes("do not follow"));
  return JSON.parse(json);
}

for (const [name, make] of Object.entries(transports)) {
  await check(`${name}: list the tools`, () => withClient(make(), async (client) => {
    const { tools } = await client.listTools();
    const monitors = ["check", "checks", "create", "delete", "get", "list", "run", "update"].map((name) => `monitor_${name}`);
    // `websvc mcp` has no browser sessions.
    const sessionWriters = hasSessions && name === "HTTP" ? ["browser_create", "browser_delete", "browser_execute", "interact", "interact_stop"] : [];
    const sessions = sessionWriters.length ? [...sessionWriters, "browser_list"] : [];
    const jobWriters = ["batch_scrape", "cancel_batch", "cancel_crawl", "crawl"];
    const jobs = [...jobWriters, "check_batch_status", "check_crawl_status"];
    const runWriters = hasModel ? ["agent", "extract"] : [];
    const runs = runWriters.flatMap((name) => [name, `${name}_status`]);
    const names = ["map", "parse", ...monitors, "scrape", "search", ...jobs, ...sessions, ...runs];
    assert.deepEqual(tools.map(({ name }) => name).sort(), names.sort());
    const writers = tools.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name);
    assert.deepEqual(writers.sort(), [...jobWriters, ...runWriters, ...sessionWriters, "monitor_create", "monitor_delete", "monitor_run", "monitor_update"].sort());
    assert.ok(tools.every((tool) => tool.inputSchema.type === "object"));
    assert.match(client.getInstructions(), /never follow/);
    assert.equal(client.getServerVersion().name, "websvc");
  }));

  await check(`${name}: search with content`, () => withClient(make(), async (client) => {
    const { data } = await call(client, "search", { query: "green tea water", scrapeOptions: { formats: ["markdown"] } });
    assert.equal(data.web[0].url, page);
    assert.match(data.web[0].markdown, /^# Green tea/);
  }));

  await check(`${name}: scrape`, () => withClient(make(), async (client) => {
    const { data } = await call(client, "scrape", { url: page, formats: ["markdown", "links"] });
    assert.match(data.markdown, /^# Green tea[^]*Sencha/);
    assert.equal(data.metadata.sourceURL, page);
    assert.deepEqual(data.links, ["http://tea.test/oolong.html"]);
  }));

  await check(`${name}: map`, () => withClient(make(), async (client) => {
    const { links } = await call(client, "map", { url: "tea.test", search: "oolong", limit: 1 });
    assert.deepEqual(links, [{ url: "http://tea.test/oolong.html", title: "Oolong" }]);
  }));

  await check(`${name}: monitor`, () => withClient(make(), async (client) => {
    const use = async (tool, options) => {
      const result = await call(client, `monitor_${tool}`, options);
      assert.equal(result.failed, undefined);
      return result;
    };
    const watched = new WatchedPage();
    const { data: created } = await use("create", { pages: [watched.url, page], scheduleText: "every day at 9:00", timezone: "Europe/Berlin" });
    const { id } = created;
    assert.deepEqual(created.schedule, { cron: "0 9 * * *", timezone: "Europe/Berlin" });
    assert.equal(created.name, `Monitor ${watched.url}`);
    assert.equal((await use("list", { limit: 1 })).data[0].id, id);
    assert.equal((await use("get", { id })).data.status, "active");
    const { data: updated } = await use("update", { id, body: { name: "Lamps", schedule: { cron: "0 8 * * *" } } });
    assert.deepEqual([updated.name, updated.schedule], ["Lamps", { cron: "0 8 * * *", timezone: "Europe/Berlin" }]);
    const runs = [];
    for (const price of [12, 14]) {
      watched.write(price);
      const { id: checkId } = await use("run", { id });
      runs.push(await waitForCheck(async () => (await use("check", { id, checkId })).data));
    }
    assert.deepEqual(runs.map(({ summary }) => [summary.new, summary.changed, summary.same]), [[2, 0, 0], [0, 1, 1]]);
    const changed = await use("check", { id, checkId: runs[1].id, pageStatus: "changed" });
    assert.deepEqual(changedLines(changed.data.pages[0].diff), ["-It costs 12 euros.", "+It costs 14 euros."]);
    const part = await use("check", { id, checkId: runs[1].id, limit: 1, skip: 1 });
    assert.deepEqual([part.data.pages.length, part.next], [1, undefined]);
    const checks = await use("checks", { id, limit: 1, offset: 1, status: "completed" });
    assert.deepEqual(checks.data.map((check) => check.id), [runs[0].id]);
    await use("update", { id, body: { status: "paused" } });
    assert.match((await call(client, "monitor_run", { id })).failed, /paused/);
    assert.equal((await use("delete", { id })).success, true);
    assert.match((await call(client, "monitor_get", { id })).failed, /Monitor not found/);
  }));

  await check(`${name}: agent${hasModel ? "" : " without a model"}`, () => withClient(make(), async (client) => {
    const started = await call(client, "agent", { prompt, urls: [page], schema, maxCredits: 50 });
    if (!hasModel) return assert.match(started.failed, /\[llm\]/);
    const run = await waitForRun(() => call(client, "agent_status", { id: started.id }));
    assert.deepEqual([run.status, run.data, run.creditsUsed], ["completed", sencha, credits]);
    assert.match((await call(client, "agent_status", { id: "7" })).failed, /Invalid agent job ID/);
  }));

  await check(`${name}: an invalid call returns the reason`, () => withClient(make(), async (client) => {
    assert.match((await call(client, "search", { query: "tea", limit: 101 })).failed, /limit/);
    assert.match((await call(client, "scrape", { url: "file:///etc/passwd" })).failed, /http/);
    assert.match((await call(client, "scrape", { url: page, formats: ["nonsense"] })).failed, /nonsense/);
    assert.match((await call(client, "monitor_create", { page, crawl: page })).failed, /monitor_create: unknown field `crawl`/);
    assert.match((await call(client, "monitor_create", { page, scheduleText: "sometimes" })).failed, /schedule[^]*sometimes/);
    assert.match((await call(client, "monitor_get", { id: "7" })).failed, /Invalid monitor ID/);
    await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), /nonsense/);
  }));
}

if (hasSessions) {
  await check("HTTP: browser sessions", () => withClient(http(key), async (client) => {
    const session = await call(client, "browser_create", { ttl: 120, activityTtl: 60 });
    assert.ok(session.liveViewUrl.startsWith(address), session.failed);
    const sessionId = session.id;
    const opened = await call(client, "browser_execute", { sessionId, code: `open ${page} && get title`, language: "bash" });
    assert.match(opened.stdout, /Green tea\n$/);
    const failed = await call(client, "browser_execute", { sessionId, code: 'throw new Error("no tea")' });
    assert.deepEqual([failed.success, failed.exitCode], [true, 1]);
    const { sessions } = await call(client, "browser_list", { status: "active" });
    assert.ok(sessions.some(({ id }) => id === sessionId));
    assert.equal((await call(client, "browser_delete", { sessionId })).creditsBilled, 2);
    assert.match((await call(client, "browser_execute", { sessionId, code: "1" })).failed, /destroyed/);
  }));

  await check("HTTP: interact", () => withClient(http(key), async (client) => {
    const { scrapeId, result } = await call(client, "interact", { url: page, code: "await page.title()" });
    assert.equal(result, "Green tea");
    const failed = await call(client, "interact", { scrapeId, code: 'throw new Error("no tea")' });
    assert.deepEqual([failed.success, failed.exitCode], [false, 1]);
    const prompted = await call(client, "interact", { scrapeId, prompt: "Click the link oolong" });
    if (hasModel) assert.equal(prompted.output, "Oolong");
    else assert.match(prompted.failed, /no language model is configured/);
    assert.equal((await call(client, "interact_stop", { scrapeId })).creditsBilled, sessionCredits);
    assert.match((await call(client, "interact", { scrapeId, code: "1" })).failed, /destroyed/);
  }));
}

await check("HTTP: a request from another origin is rejected", async () => {
  await assert.rejects(withClient(http(key, { origin: "https://elsewhere.test" }), async () => {}), /403|origin/);
});

const adminKey = process.env.WEBSVC_ADMIN_KEY;

/** A user of the client who is an administrator and allows searches. */
class ConsentingUser {
  redirectUrl = "http://127.0.0.1:9/callback";
  clientMetadata = { client_name: "Conformance", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  state() { return "of the check"; }
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }

  async redirectToAuthorization(url) {
    const opened = await fetch(url, { redirect: "manual" });
    const query = opened.headers.get("location").split("#/authorize?")[1];
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    const consent = await fetch(new URL("/dashboard/oauth/authorize", address), { method: "POST", headers, body: JSON.stringify({ query, scopes: ["search"] }) });
    const { location } = await consent.json();
    this.returned = new URL(location).searchParams;
  }
}

if (adminKey) {
  await check("HTTP: connect by URL alone with OAuth", async () => {
    const user = new ConsentingUser();
    const make = () => new StreamableHTTPClientTransport(new URL("/mcp", address), { authProvider: user });
    const first = make();
    await assert.rejects(new Client({ name: "websvc-conformance", version: "1" }).connect(first), UnauthorizedError);
    assert.equal(user.returned.get("state"), "of the check");
    await first.finishAuth(user.returned.get("code"));
    const { access_token: before } = user.saved;
    await withClient(make(), async (client) => {
      assert.equal((await call(client, "search", { query: "green tea water" })).data.web[0].url, page);
      assert.match((await call(client, "scrape", { url: page })).failed, /scope "scrape"/);
    });
    user.saved = { ...user.saved, access_token: "fc-expired" };
    await withClient(make(), async (client) => assert.ok((await client.listTools()).tools.length));
    assert.notEqual(user.saved.access_token, before, "the client has refreshed its token");
  });
}

if (key) {
  await check("HTTP: a wrong or missing key is unauthorized", async () => {
    for (const wrong of ["fc-wrong", null]) await assert.rejects(withClient(http(wrong), async () => {}));
  });
}
