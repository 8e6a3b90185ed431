// Sends the exact requests of programs that do not use an official client: `others.mjs ADDRESS [KEY]`.

import assert from "node:assert/strict";
import { address, check, key, page } from "./checks.mjs";

console.log("client requests of other programs");

/** Sends a request and returns the body of the response, which must have this status. */
async function send(path, body, { token = key, status = 200 } = {}) {
  const headers = { Authorization: `Bearer ${token ?? ""}`, "Content-Type": "application/json" };
  const method = body ? "POST" : "GET";
  const response = await fetch(address + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.equal(response.status, status, text);
  return JSON.parse(text);
}

await check("n8n: credential test", async () => {
  const { success, data } = await send("/v2/team/credit-usage");
  assert.ok(success && Number.isInteger(data.remainingCredits));
  if (key) await send("/v2/team/credit-usage", undefined, { token: "", status: 401 });
});

await check("n8n: search and scrape", async () => {
  const sources = [{ type: "web" }];
  const search = { query: "green tea water", sources, limit: 5, timeout: 60000, tbs: "", location: "", integration: "n8n" };
  assert.equal((await send("/v2/search", search)).data.web[0].url, page);
  const scraped = await send("/v2/scrape", { url: page, integration: "n8n", formats: ["markdown"] });
  assert.match(scraped.data.markdown, /Sencha/);
});

await check("Open WebUI: search, loader, external engine", async () => {
  const search = { query: "green tea water", limit: 3, timeout: 9000, ignoreInvalidURLs: true };
  assert.equal((await send("/v2/search", search)).data.web[0].url, page);
  const loader = { url: page, formats: ["markdown"], skipTlsVerification: true, removeBase64Images: true, timeout: 10000 };
  assert.match((await send("/v2/scrape", loader)).data.markdown, /Sencha/);
  assert.equal((await send("/v1/search", { query: "green tea water", limit: 3 })).data[0].url, page);
  const [first] = await send("/search", { query: "green tea water", count: 3 });
  assert.deepEqual([first.link, first.title], [page, "Green tea"]);
  const [loaded] = await send("/load", { urls: [page] });
  assert.ok(loaded.page_content.includes("Sencha") && loaded.metadata.source === page);
});

await check("LibreChat: scrape, reranker, SearXNG", async () => {
  const scrape = { url: page, formats: ["markdown", "rawHtml"], waitFor: 0, timeout: 7500 };
  for (const version of ["v1", "v2"]) {
    const { data } = await send(`/${version}/scrape`, scrape);
    assert.ok(data.markdown.includes("Sencha") && data.rawHtml.includes("<nav"), version);
  }
  const documents = ["About coffee.", "Green tea wants patience."];
  const ranked = await send("/v1/rerank", { model: "jina", query: "green tea", documents, top_n: 1 });
  assert.deepEqual(ranked.results[0].document, { text: documents[1] });
  const found = await send("/search?q=green+tea+water&format=json&pageno=1&categories=general&language=all&safesearch=0&engines=");
  assert.equal(found.results[0].url, page);
});

await check("Dify and others: duplicate slashes", async () => {
  const { data } = await send("//v1/scrape", { url: page, onlyMainContent: true });
  assert.match(data.markdown, /Sencha/);
});
