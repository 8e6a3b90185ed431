// Renders a URL repeatedly in one Chromium with Playwright, each page in a new context, and prints one line of JSON:
// {times_ms, seconds, incomplete}. The time of a page ends when its content is read and excludes closing the page.
import { chromium } from 'playwright-core';

const [executablePath, url, count, concurrency, waitUntil, expected] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, headless: true });

async function renderPage() {
  const started = performance.now();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url, { waitUntil });
  const html = await page.content();
  const time = performance.now() - started;
  await context.close();
  return { time, isComplete: html.includes(expected) };
}

await renderPage();
const started = performance.now();
const pages = [];
let remaining = Number(count);
async function worker() {
  while (remaining > 0) {
    remaining -= 1;
    pages.push(await renderPage());
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
const seconds = (performance.now() - started) / 1000;
await browser.close();
const incomplete = pages.filter((page) => !page.isComplete).length;
console.log(JSON.stringify({ times_ms: pages.map((page) => page.time), seconds, incomplete }));
