// Checks the MCP tools of the service with the official MCP SDK, over HTTP and over the standard streams of `websvc mcp`:
// `mcp_sdk.mjs ADDRESS [KEY]`. WEBSVC_MCP is the command of the MCP server as a JSON array.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { address, check, key, page } from "./checks.mjs";

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

  await check(`${name}: an invalid call returns the reason`, () => withClient(make(), async (client) => {
    assert.match((await call(client, "search", { query: "tea", limit: 101 })).failed, /limit/);
    assert.match((await call(client, "scrape", { url: "file:///etc/passwd" })).failed, /http/);
    assert.match((await call(client, "scrape", { url: page, formats: ["nonsense"] })).failed, /nonsense/);
    await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), /nonsense/);
  }));
}

await check("HTTP: a request from another origin is rejected", async () => {
  await assert.rejects(withClient(http(key, { origin: "https://elsewhere.test" }), async () => {}), /403|origin/);
});

if (key) {
  await check("HTTP: a wrong or missing key is unauthorized", async () => {
    for (const wrong of ["fc-wrong", null]) await assert.rejects(withClient(http(wrong), async () => {}));
  });
}
