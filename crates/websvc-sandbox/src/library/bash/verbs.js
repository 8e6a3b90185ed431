// The commands of agent-browser. Each gets its words and returns the text that it prints.

const DONE = '✓ Done';
const flag = key => ({ key, value: false });
const valued = key => ({ key, value: true });

// Returns the locator of a selector or of a reference such as @e1 of the last snapshot.
async function locate(page, selector) {
  if (selector === undefined) throw new Error('a selector or a reference such as @e1 is missing');
  const reference = /^(?:@|ref=)(e\d+)$/.exec(selector);
  if (!reference) return page.locator(selector).first();
  const parts = [{ by: 'ref', ref: reference[1] }];
  const frame = await frameOfReference(page, parts);
  if (!frame) throw new Error(`Unknown ref: ${reference[1]}. The page has changed: take a new snapshot`);
  return new Locator(frame, parts, selector);
}

function numberOf(text, name) {
  const value = Number(text);
  if (text === undefined || !Number.isFinite(value)) throw new Error(`${name} must be a number, not ${quote(String(text))}`);
  return value;
}

function needed(value, name) {
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}

function addressOf(text) {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[^/]*:\d/.test(text) ? text : `https://${text}`;
}

// Returns a value of a page as the text to print: strings as they are.
function printed(value) {
  return typeof value === 'string' ? value : value === undefined ? 'undefined' : JSON.stringify(value, null, 2);
}

async function openPage(page, [url]) {
  await page.goto(addressOf(needed(url, 'the address')));
  return `✓ ${await page.title()}\n  ${page.url()}`;
}

const GET = {
  text: async (page, [selector]) => (await locate(page, selector)).innerText(),
  html: async (page, [selector]) => (await locate(page, selector)).innerHTML(),
  value: async (page, [selector]) => (await locate(page, selector)).inputValue(),
  attr: async (page, [selector, name]) =>
    await (await locate(page, selector)).getAttribute(needed(name, 'the name of the attribute')) ?? 'null',
  title: page => page.title(),
  url: async page => page.url(),
  count: async (page, [selector]) => String(await page.locator(needed(selector, 'the selector')).count()),
  box: async (page, [selector]) => JSON.stringify(await (await locate(page, selector)).boundingBox()),
  styles: async (page, [selector]) => printed(await (await locate(page, selector))._target.read('styles')),
};

const IS = {
  visible: async (page, [selector]) => String(await (await locate(page, selector)).isVisible()),
  enabled: async (page, [selector]) => String(await (await locate(page, selector)).isEnabled()),
  checked: async (page, [selector]) => String(await (await locate(page, selector)).isChecked()),
};

// Calls the entry of a table that the first word names.
async function callNamed(verb, table, page, words) {
  const [name, ...rest] = words;
  const entry = name !== undefined && Object.hasOwn(table, name) ? table[name] : null;
  if (!entry) {
    const hint = name === undefined ? '' : `; did you mean ${verb} ${closestName(name, Object.keys(table))}?`;
    throw new Error(`${verb} ${name ?? ''}: expected one of ${Object.keys(table).join(', ')}${hint}`);
  }
  return entry(page, rest);
}

async function scrollPage(page, words) {
  const { options, rest } = parseOptions(words, { s: valued('selector'), selector: valued('selector') });
  const [direction = 'down', amount = '300'] = rest;
  const px = numberOf(amount, 'the amount');
  const by = { up: [0, -px], down: [0, px], left: [-px, 0], right: [px, 0] }[direction];
  if (!by) throw new Error(`scroll ${direction}: expected one of up, down, left, right`);
  const move = options.selector ? await locate(page, options.selector) : page.locator('html');
  await move.evaluate((element, [x, y]) => {
    const target = element === document.documentElement ? window : element;
    target.scrollBy({ left: x, top: y, behavior: 'instant' });
  }, by);
  return DONE;
}

async function waitFor(page, words) {
  const { options, rest } = parseOptions(words, {
    load: valued('load'), l: valued('load'), text: valued('text'), t: valued('text'), url: valued('url'),
    u: valued('url'), fn: valued('body'), f: valued('body'), timeout: valued('timeout'), state: valued('state'),
  });
  const time = options.timeout === undefined ? {} : { timeout: numberOf(options.timeout, '--timeout') };
  if (options.load !== undefined) await page.waitForLoadState(options.load, time);
  else if (options.text !== undefined) await page.getByText(options.text).first().waitFor(time);
  else if (options.url !== undefined) await page.waitForURL(options.url, time);
  else if (options.body !== undefined) await page.waitForFunction(options.body, undefined, time);
  else if (/^\d+$/.test(rest[0] || '')) await sleep(Number(rest[0]));
  else await (await locate(page, rest[0])).waitFor({ ...time, ...(options.state ? { state: options.state } : {}) });
  return DONE;
}

async function takeSnapshot(page, words) {
  const { options } = parseOptions(words, {
    i: flag('interactive'), interactive: flag('interactive'), c: flag('compact'), compact: flag('compact'),
    d: valued('depth'), depth: valued('depth'), s: valued('selector'), selector: valued('selector'),
  });
  const { interactive = false, compact = false } = options;
  const depth = options.depth === undefined ? null : numberOf(options.depth, '--depth');
  const parts = options.selector ? parseSelector(options.selector) : null;
  const lines = await snapshotLines(page, { interactive, compact, depth, parts });
  if (lines.length) return lines.join('\n');
  return interactive || (parts && !await page._main._countNow(parts)) ? '(no interactive elements)' : '(empty page)';
}

async function screenshotPage(page, words) {
  const { options, rest } = parseOptions(words, { full: flag('fullPage'), f: flag('fullPage') });
  // The name of a file has no meaning here, but programs for the original have one.
  const selector = rest.find(word => word.startsWith('@') || word.startsWith('#'));
  const image = selector ? await (await locate(page, selector)).screenshot() : await page.screenshot(options);
  return image.toString('base64');
}

async function evaluateText(page, words) {
  const { options, rest } = parseOptions(words, { b: flag('base64'), base64: flag('base64') });
  const code = needed(rest.join(' ') || undefined, 'the script');
  return printed(await page.evaluate(options.base64 ? Buffer.from(code, 'base64').toString() : code));
}
