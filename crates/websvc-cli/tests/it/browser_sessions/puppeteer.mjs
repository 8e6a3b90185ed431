// Attacks the files of the server with puppeteer-core. Arguments: the package, the URL of the DevTools protocol.
import { createRequire } from "node:module";

const [folder, cdpUrl] = process.argv.slice(2);
const puppeteer = createRequire(import.meta.url)(folder);
const browser = await puppeteer.connect({ browserWSEndpoint: cdpUrl, defaultViewport: null });
const [page] = await browser.pages();
await page.goto("http://tea.test/");
console.log(await page.title(), browser.targets().every((target) => /^(https?:|about:blank|$)/.test(target.url())));
for (const url of ["file:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version", "chrome://omnibox-popup.top-chrome/"]) {
  console.log(url, await page.goto(url, { timeout: 5000 }).then(() => "reached", () => "refused"));
}
const client = await page.createCDPSession();
for (const [method, params] of [
  ["Target.createTarget", { url: "file:///etc/passwd" }],
  ["Target.exposeDevToolsProtocol", { targetId: page.target()._targetId }],
  ["DOM.setFileInputFiles", { files: ["/etc/passwd"], backendNodeId: 1 }],
]) {
  console.log(method, await client.send(method, params).then(() => "accepted", () => "refused"));
}
const read = `fetch("file:///etc/passwd").then((file) => file.text()).then(() => "read", () => "refused")`;
console.log("fetch", await page.evaluate(read));
await page.setContent(`<iframe src="file:///etc/passwd"></iframe>`);
// A client sees no script context of a frame that was refused, so it would wait for one.
const second = () => new Promise((resolve) => { setTimeout(resolve, 1000, "") });
const text = (frame) => Promise.race([frame.evaluate("document.body.innerText").catch(() => ""), second()]);
const texts = await Promise.all(page.frames().map(text));
console.log("frame", texts.some((text) => text.includes("root:")) ? "read" : "refused");
await browser.disconnect();
process.exit();
