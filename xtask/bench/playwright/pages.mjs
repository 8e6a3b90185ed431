// Opens a URL again and again in one Chromium through Playwright, a new context for each page, and prints one line of
// JSON: {times_ms, seconds, incomplete}. A page's time ends with its content; it is closed after that.
import { chromium } from 'playwright-core';

const [executablePath, url, times, atOnce, waitUntil, expected] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, headless: true });

async function open() {
  const began = performance.now();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url, { waitUntil });
  const html = await page.content();
  const time = performance.now() - began;
  await context.close();
  return { time, isComplete: html.includes(expected) };
}

await open();
const began = performance.now();
const opened = [];
let left = Number(times);
async function work() {
  while (left > 0) {
    left -= 1;
    opened.push(await open());
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, work));
const seconds = (performance.now() - began) / 1000;
await browser.close();
const incomplete = opened.filter((page) => !page.isComplete).length;
console.log(JSON.stringify({ times_ms: opened.map((page) => page.time), seconds, incomplete }));
