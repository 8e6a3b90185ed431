// Runs programs with Playwright and prints the outcome of each as a line of JSON.
//
// Arguments: the folder of playwright-core, the path of Chromium, and files with programs. The last line of a program is
// an expression, its result.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { format } from 'node:util';

const [folder, executablePath, ...files] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(folder);
const AsyncFunction = (async () => {}).constructor;

function resultText(value) {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function runProgram(browser, code) {
  const lines = code.trimEnd().split('\n');
  const last = lines.pop();
  const context = await browser.newContext();
  const page = await context.newPage();
  let stdout = '';
  const print = (...values) => { stdout += `${format(...values)}\n`; };
  const console = { log: print, info: print, debug: print, error() {}, warn() {} };
  const outcome = { result: null, exitCode: 0, error: null };
  try {
    const body = new AsyncFunction('page', 'context', 'browser', 'console', `${lines.join('\n')}\nreturn (${last}\n);`);
    outcome.result = resultText(await body(page, context, browser, console));
  } catch (error) {
    outcome.exitCode = 1;
    outcome.error = `${error.name}: ${error.message}`.split('\n')[0];
  }
  await context.close();
  return { stdout, ...outcome };
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
for (const file of files) {
  const outcome = await runProgram(browser, readFileSync(file, 'utf8'));
  process.stdout.write(`${JSON.stringify({ name: basename(file, '.js'), ...outcome })}\n`);
}
await browser.close();
