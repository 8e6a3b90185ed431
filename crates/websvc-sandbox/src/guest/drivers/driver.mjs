// Runs a program with Playwright, connected to the browser of a session.
import fs from 'node:fs';
import inspector from 'node:inspector';
import { createRequire } from 'node:module';
import path from 'node:path';
import util from 'node:util';

const FILE = 'program.js';
const task = JSON.parse(fs.readFileSync(0, 'utf8'));
const started = Date.now();
const requireLibrary = createRequire(path.join(task.library, 'package.json'));

async function targetOf(page) {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await session.detach();
  return targetInfo.targetId;
}

async function currentPage(context) {
  const pages = context.pages();
  if (pages.length > 1) {
    for (const page of pages) {
      if (await targetOf(page) === task.targetId) return page;
    }
  }
  return pages[0] ?? await context.newPage();
}

// Evaluates a program as a console does: with await at the top level, and the value of the last expression.
function evaluate(code) {
  const session = new inspector.Session();
  session.connect();
  const post = (method, params) => new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
  });
  const expression = `${code}\n//# sourceURL=${FILE}`;
  return post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true }).then(async answer => {
    const thrown = answer.exceptionDetails;
    if (thrown && /Illegal return statement/.test(thrown.exception?.description ?? '')) {
      return evaluate(`(async () => {${code}\n})()`);
    }
    const object = thrown ? thrown.exception : answer.result;
    const value = object.objectId ? await valueOf(post, object.objectId) : primitive(object);
    if (thrown) throw value;
    return value;
  });
}

async function valueOf(post, objectId) {
  globalThis.__websvc = [];
  const functionDeclaration = 'function () { globalThis.__websvc.push(this); }';
  await post('Runtime.callFunctionOn', { objectId, functionDeclaration });
  const [value] = globalThis.__websvc;
  delete globalThis.__websvc;
  return value;
}

function primitive({ type, value, unserializableValue }) {
  if (type === 'undefined') return undefined;
  if (unserializableValue === undefined) return value;
  if (type === 'bigint') return BigInt(unserializableValue.slice(0, -1));
  return Number(unserializableValue);
}

function resultText(value) {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (typeof value === 'bigint') return `${value}n`;
  try {
    return JSON.stringify(value) ?? util.inspect(value);
  } catch {
    return util.inspect(value);
  }
}

function printError(error) {
  const text = error instanceof Error ? error.stack ?? String(error) : `Uncaught ${util.inspect(error)}`;
  process.stderr.write(`${text}\n`);
}

async function run() {
  const { chromium } = requireLibrary('./index.js');
  if (task.isCheck) {
    console.log(`Node ${process.versions.node}, playwright-core ${requireLibrary('./package.json').version}`);
    return 0;
  }
  const browser = await chromium.connectOverCDP(task.endpoint);
  const [context] = browser.contexts();
  const page = await currentPage(context);
  // An operation ends before the program is killed, so that its error says what it waited for.
  const leftMs = task.timeoutMs - (Date.now() - started);
  context.setDefaultTimeout(Math.min(30000, Math.max(leftMs - 1000, leftMs * 0.8)));
  const require = createRequire('/home/program.js');
  Object.assign(globalThis, { page, context, browser, require });
  const outcome = {};
  let exitCode = 0;
  try {
    outcome.result = resultText(await evaluate(task.code));
  } catch (error) {
    printError(error);
    exitCode = 1;
  }
  if (globalThis.page !== page) {
    outcome.targetId = await targetOf(globalThis.page).catch(() => null);
  }
  fs.writeFileSync(task.outcome, JSON.stringify(outcome));
  return exitCode;
}

process.on('uncaughtException', error => {
  printError(error);
  process.exit(1);
});
process.exitCode = await run().catch(error => {
  printError(error);
  return 1;
});
process.exit();
