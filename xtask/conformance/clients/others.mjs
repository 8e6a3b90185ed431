// What programs send that are no official clients, word for word: `others.mjs ADDRESS [KEY]`.

import assert from "node:assert/strict";
import { address, check, key, page } from "./checks.mjs";

console.log("client requests of other programs");

/** Sends a request as one of them does, and returns the answer's body. */
async function ask(path, body, { token = key, status = 200 } = {}) {
  const headers = { Authorization: `Bearer ${token ?? ""}`, "Content-Type": "application/json" };
  const method = body ? "POST" : "GET";
  const answer = await fetch(address + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  return JSON.parse(text);
}

await check("n8n: the test of a credential", async () => {
  const { success, data } = await ask("/v2/team/credit-usage");
  assert.ok(success && Number.isInteger(data.remainingCredits));
  if (key) await ask("/v2/team/credit-usage", undefined, { token: "", status: 401 });
});

await check("n8n: search and scrape", async () => {
  const sources = [{ type: "web" }];
  const search = { query: "green tea water", sources, limit: 5, timeout: 60000, tbs: "", location: "", integration: "n8n" };
  assert.equal((await ask("/v2/search", search)).data.web[0].url, page);
  const scraped = await ask("/v2/scrape", { url: page, integration: "n8n", formats: ["markdown"] });
  assert.match(scraped.data.markdown, /Sencha/);
});

await check("Open WebUI: search, loader, external engine", async () => {
  const search = { query: "green tea water", limit: 3, timeout: 9000, ignoreInvalidURLs: true };
  assert.equal((await ask("/v2/search", search)).data.web[0].url, page);
  const loader = { url: page, formats: ["markdown"], skipTlsVerification: true, removeBase64Images: true, timeout: 10000 };
  assert.match((await ask("/v2/scrape", loader)).data.markdown, /Sencha/);
  assert.equal((await ask("/v1/search", { query: "green tea water", limit: 3 })).data[0].url, page);
  const [first] = await ask("/search", { query: "green tea water", count: 3 });
  assert.deepEqual([first.link, first.title], [page, "Green tea"]);
});

await check("LibreChat: scrape, reranker, SearXNG", async () => {
  const scrape = { url: page, formats: ["markdown", "rawHtml"], waitFor: 0, timeout: 7500 };
  for (const version of ["v1", "v2"]) {
    const { data } = await ask(`/${version}/scrape`, scrape);
    assert.ok(data.markdown.includes("Sencha") && data.rawHtml.includes("<nav"), version);
  }
  const documents = ["About coffee.", "Green tea wants patience."];
  const ranked = await ask("/v1/rerank", { model: "jina", query: "green tea", documents, top_n: 1 });
  assert.deepEqual(ranked.results[0].document, { text: documents[1] });
  const found = await ask("/search?q=green+tea+water&format=json&pageno=1&categories=general&language=all&safesearch=0&engines=");
  assert.equal(found.results[0].url, page);
});

await check("Dify and others: slashes too many", async () => {
  const { data } = await ask("//v1/scrape", { url: page, onlyMainContent: true });
  assert.match(data.markdown, /Sencha/);
});
