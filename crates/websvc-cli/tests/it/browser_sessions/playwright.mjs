// Drives a session with playwright-core. Arguments: the package, the URL of the DevTools protocol.
import { createRequire } from "node:module";

const [folder, cdpUrl] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(folder);
const browser = await chromium.connectOverCDP(cdpUrl);
const context = browser.contexts()[0];
const page = context.pages()[0];
console.log(browser.contexts().length, context.pages().length, page.url());
await page.goto("http://tea.test/");
console.log(await page.title());
page.on("dialog", (dialog) => { console.log("dialog", dialog.message()); dialog.accept() });
await page.setContent("<button onclick=\"document.title = confirm('Sure?')\">Go</button><input id=name>");
await page.getByRole("button").click();
await page.fill("#name", "Anna");
console.log(await page.title(), await page.inputValue("#name"));
const [popup] = await Promise.all([context.waitForEvent("page"), page.evaluate(() => { window.open("http://tea.test/") })]);
await popup.waitForLoadState();
console.log(await popup.title(), context.pages().length);
await context.addCookies([{ name: "c", value: "1", url: "http://tea.test/" }]);
console.log((await context.cookies()).length, (await page.screenshot()).length > 100);
for (const url of ["file:///etc/passwd", "chrome://version", "http://127.0.0.1:9999/"]) {
  console.log(url, await popup.goto(url).then(() => "reached", () => "refused"));
}
console.log("context", await browser.newContext().then(() => "created", () => "refused"));
await browser.close();
