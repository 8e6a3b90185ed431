// Runs programs with Playwright in a session. Each is a line, a string of JSON. Arguments: the package, the URL of the
// DevTools protocol.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, cdpUrl] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(folder);
const AsyncFunction = (async () => {}).constructor;
const browser = await chromium.connectOverCDP(cdpUrl);
const context = browser.contexts()[0];
context.setDefaultTimeout(5000);
const page = context.pages()[0];
console.log("connected");
for await (const line of createInterface({ input: process.stdin })) {
  await new AsyncFunction("page", "context", JSON.parse(line))(page, context).catch((error) => console.error(error.message));
  console.log("ended");
}
process.exit(0);
