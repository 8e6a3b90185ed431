// Commands about tabs, cookies, storage, input devices and settings, and the table of all commands.

const FIND = {
  role: (page, [role], { name, exact }) => page.getByRole(role, { name, exact }),
  text: (page, [text], { exact }) => page.getByText(text, { exact }),
  label: (page, [text], { exact }) => page.getByLabel(text, { exact }),
  placeholder: (page, [text], { exact }) => page.getByPlaceholder(text, { exact }),
  alt: (page, [text], { exact }) => page.getByAltText(text, { exact }),
  title: (page, [text], { exact }) => page.getByTitle(text, { exact }),
  testid: (page, [text]) => page.getByTestId(text),
  first: (page, [selector]) => page.locator(selector).first(),
  last: (page, [selector]) => page.locator(selector).last(),
  nth: (page, [index, selector]) => page.locator(selector).nth(numberOf(index, 'the index')),
};

const FIND_ACTIONS = {
  click: found => found.click(), hover: found => found.hover(), focus: found => found.focus(),
  check: found => found.check(), uncheck: found => found.uncheck(), text: found => found.innerText(),
  fill: (found, text) => found.fill(needed(text, 'the text')),
  type: (found, text) => found.pressSequentially(needed(text, 'the text')),
};

async function findElement(page, words) {
  const { options, rest } = parseOptions(words, { name: valued('name'), exact: flag('exact') });
  const [by, ...values] = rest;
  return callNamed('find', Object.fromEntries(Object.entries(FIND).map(([name, make]) => [name, async () => {
    const count = name === 'nth' ? 2 : 1;
    const given = values.slice(0, count);
    needed(given[count - 1], 'the value to find');
    const [action = 'click', text] = values.slice(count);
    const found = make(page, given, options);
    return await callNamed('find', mapTable(FIND_ACTIONS, found, text), page, [action]) ?? DONE;
  }])), page, [by]);
}

function mapTable(table, found, text) {
  return Object.fromEntries(Object.entries(table).map(([name, call]) => [name, () => call(found, text)]));
}

async function tabs(page, words) {
  const context = page.context();
  const [what = 'list', value] = words;
  if (what === 'list') {
    const lines = [];
    for (const [i, tab] of context.pages().entries()) {
      lines.push(`${tab === page ? '→' : ' '} [${i}] ${await tab.title()} - ${tab.url()}`);
    }
    return lines.join('\n');
  }
  if (what === 'new') {
    globalThis.page = await context.newPage();
    return value === undefined ? DONE : openPage(globalThis.page, [value]);
  }
  if (what === 'close') {
    const tab = value === undefined ? page : tabAt(context, value);
    if (context.pages().length === 1) throw new Error('the last tab cannot be closed');
    await tab.close();
    if (tab === page) globalThis.page = context.pages().at(-1);
    return DONE;
  }
  const tab = tabAt(context, what);
  await tab.bringToFront();
  globalThis.page = tab;
  return `✓ ${await tab.title()}\n  ${tab.url()}`;
}

function tabAt(context, text) {
  const tab = context.pages()[numberOf(text, 'the number of the tab')];
  if (!tab) throw new Error(`there is no tab ${text}; "tab" lists them`);
  return tab;
}

const COOKIES = {
  get: async page => printed(await page.context().cookies()),
  set: async (page, [name, value]) => {
    await page.context().addCookies([{ name: needed(name, 'the name'), value: needed(value, 'the value'), url: page.url() }]);
    return DONE;
  },
  clear: async page => { await page.context().clearCookies(); return DONE; },
};

async function storage(page, [kind, action = 'get', key, value]) {
  if (kind !== 'local' && kind !== 'session') throw new Error(`storage ${kind ?? ''}: expected one of local, session`);
  if (!['get', 'set', 'clear'].includes(action)) [action, key] = ['get', action];
  if (action === 'set') needed(value, 'the value');
  const result = await page.evaluate(([name, what, item, text]) => {
    const area = window[name];
    if (what === 'set') area.setItem(item, text);
    else if (what === 'clear') area.clear();
    else return item === null ? { ...area } : area.getItem(item);
    return null;
  }, [`${kind}Storage`, action, key ?? null, value ?? null]);
  return action === 'get' ? printed(result) : DONE;
}

const MOUSE = {
  move: async (page, [x, y]) => { await page.mouse.move(numberOf(x, 'x'), numberOf(y, 'y')); return DONE; },
  down: async (page, [button]) => { await page.mouse.down({ button }); return DONE; },
  up: async (page, [button]) => { await page.mouse.up({ button }); return DONE; },
  wheel: async (page, [dy, dx = '0']) => { await page.mouse.wheel(numberOf(dx, 'dx'), numberOf(dy, 'dy')); return DONE; },
};

const SET = {
  viewport: async (page, [width, height]) => {
    await page.setViewportSize({ width: numberOf(width, 'the width'), height: numberOf(height, 'the height') });
    return DONE;
  },
  media: async (page, [colorScheme]) => { await page.emulateMedia({ colorScheme }); return DONE; },
};

// Returns a command that does something with one element.
const onElement = call => async (page, [selector, ...rest]) => {
  await call(await locate(page, selector), ...rest);
  return DONE;
};
const onPage = call => async (page, words) => {
  await call(page, ...words);
  return DONE;
};
const named = (verb, table) => (page, words) => callNamed(verb, table, page, words);

const VERBS = {
  open: openPage, goto: openPage, navigate: openPage,
  back: onPage(page => page.goBack()), forward: onPage(page => page.goForward()), reload: onPage(page => page.reload()),
  click: onElement(found => found.click()), dblclick: onElement(found => found.dblclick()),
  hover: onElement(found => found.hover()), focus: onElement(found => found.focus()),
  fill: onElement((found, ...words) => found.fill(needed(words.join(' '), 'the text'))),
  type: onElement((found, ...words) => found.pressSequentially(words.join(' '))),
  check: onElement(found => found.check()), uncheck: onElement(found => found.uncheck()),
  select: onElement((found, ...values) => found.selectOption(values)),
  drag: onElement(async (found, other) => found.dragTo(await locate(found.page(), other))),
  scrollintoview: onElement(found => found.scrollIntoViewIfNeeded()),
  scrollinto: onElement(found => found.scrollIntoViewIfNeeded()),
  press: onPage((page, key) => page.keyboard.press(needed(key, 'the key'))),
  key: onPage((page, key) => page.keyboard.press(needed(key, 'the key'))),
  keydown: onPage((page, key) => page.keyboard.down(needed(key, 'the key'))),
  keyup: onPage((page, key) => page.keyboard.up(needed(key, 'the key'))),
  scroll: scrollPage, wait: waitFor, snapshot: takeSnapshot, screenshot: screenshotPage, eval: evaluateText,
  pdf: async page => (await page.pdf()).toString('base64'),
  get: named('get', GET), is: named('is', IS), find: findElement, tab: tabs,
  cookies: async (page, words) => callNamed('cookies', COOKIES, page, words.length ? words : ['get']),
  storage, mouse: named('mouse', MOUSE), set: named('set', SET),
};
