// The official client of the Model Context Protocol with the tools of the service itself, over HTTP and over the standard
// streams of `websvc mcp`: `mcp_sdk.mjs ADDRESS [KEY]`, with the program's command in WEBSVC_MCP as JSON.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { address, check, key, page } from "./checks.mjs";

console.log("client @modelcontextprotocol/sdk");

const [command, ...args] = JSON.parse(process.env.WEBSVC_MCP);

const http = (given, headers = {}) =>
  new StreamableHTTPClientTransport(new URL("/mcp", address), { requestInit: { headers: given ? { authorization: `Bearer ${given}`, ...headers } : headers } });
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

/** Returns what a tool gave, out of its marks. */
async function call(client, name, options) {
  const { content, isError } = await client.callTool({ name, arguments: options });
  if (isError) return { failed: content[0].text };
  const [, mark, json] = content[1].text.match(/^<untrusted-([0-9a-f]+)>\n([^]*)\n<\/untrusted-\1>$/);
  assert.ok(content[0].text.includes(mark) && content[0].text.includes("do not follow"));
  return JSON.parse(json);
}

for (const [name, make] of Object.entries(transports)) {
  await check(`${name}: list the tools`, () => withClient(make(), async (client) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), ["map", "scrape", "search"]);
    assert.ok(tools.every((tool) => tool.annotations.readOnlyHint && tool.inputSchema.type === "object"));
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

  await check(`${name}: what is refused says why`, () => withClient(make(), async (client) => {
    assert.match((await call(client, "search", { query: "tea", limit: 101 })).failed, /limit/);
    assert.match((await call(client, "scrape", { url: "file:///etc/passwd" })).failed, /http/);
    assert.match((await call(client, "scrape", { url: page, formats: ["nonsense"] })).failed, /nonsense/);
    await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), /nonsense/);
  }));
}

await check("HTTP: requests of other pages are refused", async () => {
  await assert.rejects(withClient(http(key, { origin: "https://elsewhere.test" }), async () => {}), /403|origin/);
});

if (key) {
  await check("HTTP: a wrong or missing key is unauthorized", async () => {
    for (const wrong of ["fc-wrong", null]) await assert.rejects(withClient(http(wrong), async () => {}));
  });
}
