// The methods that pages and frames have in common. Those of a page are those of its main frame.

const FRAME_METHODS = {
  async $(selector) { return this._queryHandle(parseSelector(selector), null); },
  async $$(selector) { return this._queryHandles(parseSelector(selector), null); },
  async $eval(selector, body, argument) { return this._evalOne(selector, body, argument, null); },
  async $$eval(selector, body, argument) { return this._evalAll(parseSelector(selector), body, argument, null); },
  async evaluate(body, argument) { return (await this._world(false)).evaluate(body, argument, false); },
  async evaluateHandle(body, argument) { return (await this._world(false)).evaluate(body, argument, true); },

  async click(selector, options) { return this._select(selector, options).click(options); },
  async dblclick(selector, options) { return this._select(selector, options).click({ ...options, clickCount: 2 }); },
  async hover(selector, options) { return this._select(selector, options).hover(options); },
  async fill(selector, text, options) { return this._select(selector, options).fill(text, options); },
  async type(selector, text, options) { return this._select(selector, options).type(text, options); },
  async press(selector, key, options) { return this._select(selector, options).press(key, options); },
  async check(selector, options) { return this._select(selector, options).setChecked(true, options); },
  async uncheck(selector, options) { return this._select(selector, options).setChecked(false, options); },
  async setChecked(selector, checked, options) { return this._select(selector, options).setChecked(checked, options); },
  async selectOption(selector, values, options) { return this._select(selector, options).selectOption(values, options); },
  async setInputFiles(selector, files, options) { return this._select(selector, options).setInputFiles(files, options); },
  async focus(selector, options) { await this._select(selector, options).read('focus', {}, options); },
  async dispatchEvent(selector, type, init = {}, options = {}) {
    await this._select(selector, options).read('dispatch', { type, init }, options);
  },
  async textContent(selector, options) { return this._select(selector, options).read('textContent', {}, options); },
  async innerText(selector, options) { return this._select(selector, options).read('innerText', {}, options); },
  async innerHTML(selector, options) { return this._select(selector, options).read('innerHTML', {}, options); },
  async inputValue(selector, options) {
    return this._select(selector, options).read('inputValue', { follow: true }, options);
  },
  async getAttribute(selector, name, options) {
    return this._select(selector, options).read('attribute', { name }, options);
  },
  async isVisible(selector, options) { return this._isVisibleNow(this._select(selector, options)); },
  async isHidden(selector, options) { return !await this._isVisibleNow(this._select(selector, options)); },
  async isEnabled(selector, options) { return this._select(selector, options).read('enabled', {}, options); },
  async isDisabled(selector, options) { return !await this._select(selector, options).read('enabled', {}, options); },
  async isEditable(selector, options) { return this._select(selector, options).read('editable', {}, options); },
  async isChecked(selector, options) { return this._select(selector, options).read('checked', { follow: true }, options); },
  async dragAndDrop(source, target, options = {}) {
    await this._select(source, options).hover({ ...options, position: options.sourcePosition });
    await this._page.mouse._down();
    await this._select(target, options).hover({ ...options, position: options.targetPosition, force: true });
    await this._page.mouse._up();
  },

  async title() { return (await this._utilityValue('document.title')); },
  async content() {
    return this._utilityValue(`(document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '')
      + (document.documentElement ? document.documentElement.outerHTML : '')`);
  },
  async setContent(html, options = {}) {
    const deadline = this._page._navigationDeadline(options);
    const event = loadEvent(options.waitUntil);
    this._events = new Set();
    const world = await this._world(true);
    await world._call('function (html) { document.open(); document.write(html); document.close(); }',
      [{ value: html }], true);
    await this._waitForEvent(event, deadline);
  },
  async addScriptTag({ content, url, type = '' }) { return this._addTag('script', { text: content, src: url, type }); },
  async addStyleTag({ content, url }) {
    return url ? this._addTag('link', { rel: 'stylesheet', href: url }) : this._addTag('style', { textContent: content });
  },

  async waitForSelector(selector, options) {
    return this._waitForSelector(parseSelector(selector), `locator(${quote(selector)})`, options);
  },
  async waitForFunction(body, argument, options = {}) {
    const deadline = this._page._deadline(options);
    const delay = typeof options.polling === 'number' ? options.polling : 30;
    for (;;) {
      const handle = await deadline.race(retryDestroyed(async () =>
        (await this._world(false)).evaluate(body, argument, true)));
      const isTrue = handle._object.objectId ? true : !!unpackValue(await this._packed(handle));
      if (isTrue) return handle;
      if (deadline.isOver) throw deadline.error();
      await sleep(Math.min(delay, Math.max(1, deadline.left)));
    }
  },
  async waitForTimeout(ms) { await sleep(ms); },
  async waitForLoadState(state = 'load', options = {}) {
    if (!Object.hasOwn(LOAD_STATES, state)) {
      throw new Error('state: expected one of (load|domcontentloaded|networkidle|commit)');
    }
    await this._waitForEvent(loadEvent(state), this._page._navigationDeadline(options));
  },
  async goto(url, options) { return this._navigate(url, options); },
  async waitForURL(url, options = {}) {
    const deadline = this._page._navigationDeadline(options);
    const matches = urlMatcher(url);
    await this._page._until(() => matches(this._url), deadline, () => callLog([`waiting for navigation to ${
      typeof url === 'string' ? `"${url}"` : url} until "${options.waitUntil || 'load'}"`]));
    await this._waitForEvent(loadEvent(options.waitUntil), deadline);
  },
  async waitForNavigation(options = {}) {
    const deadline = this._page._navigationDeadline(options);
    const matches = options.url === undefined ? () => true : urlMatcher(options.url);
    const before = this._navigations;
    await this._page._until(() => this._navigations !== before && matches(this._url), deadline);
    await this._waitForEvent(loadEvent(options.waitUntil), deadline);
    return this._page._documentResponse(this._loaderId);
  },
};

Object.assign(FRAME_METHODS, {
  _select(selector, options = {}) {
    return new Target(this, parseSelector(selector), null, `locator(${quote(selector)})`, !!(options && options.strict));
  },
  _utilityValue(expression) {
    return retryDestroyed(async () => (await (await this._world(true))._evaluateRaw(expression, true)).value);
  },
  async _packed(handle) { return handle._world._packRemote(handle._object); },
  async _addTag(name, properties) {
    const body = `async ({ name, properties }) => {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(properties)) if (value !== undefined) element[key] = value;
      const loads = properties.src || properties.href;
      const done = loads && new Promise((resolve, reject) => {
        element.onload = resolve;
        element.onerror = () => reject(new Error('Failed to load ' + loads));
      });
      document.head.appendChild(element);
      await done;
      return element;
    }`;
    return (await this._world(false)).evaluate(body, { name, properties }, true, true);
  },
  async _navigate(url, options = {}) {
    const page = this._page;
    const deadline = page._navigationDeadline(options);
    const event = loadEvent(options.waitUntil);
    const log = () => callLog([`navigating to "${url}", waiting until "${options.waitUntil || 'load'}"`]);
    const params = { url: String(url), frameId: this._id };
    const before = this._navigations;
    if (options.referer) params.referrer = options.referer;
    const { errorText, loaderId, isDownload } = await deadline.race(this._session.send('Page.navigate', params), log);
    if (isDownload) throw new Error(`Download is starting${log()}`);
    if (errorText) throw new Error(`${errorText} at ${url}${log()}`);
    if (!loaderId) {
      // The event about the new fragment follows.
      await page._until(() => this._navigations > before, new Deadline(1000)).catch(ignore);
      return null;
    }
    await page._until(() => this._committed.has(loaderId), deadline, log);
    await deadline.race(this._waitForEvent(event, deadline), log);
    return page._documentResponse(loaderId);
  },
});

for (const [name, method] of Object.entries(FRAME_METHODS)) {
  Object.defineProperty(Frame.prototype, name, { value: method, writable: true, configurable: true });
}

// Returns a function that tests an address: with a glob, an expression or a function.
function urlMatcher(url) {
  if (typeof url === 'function') return text => url(new URL(text));
  if (url instanceof RegExp) return text => { url.lastIndex = 0; return url.test(text); };
  const pattern = new RegExp(`^${globSource(String(url))}$`);
  return text => text === url || text === `${url}/` || pattern.test(text);
}

function globSource(glob) {
  let source = '';
  let depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i];
    if (c === '\\') source += `\\${glob[++i] || '\\'}`;
    else if (c === '*') {
      const isDeep = glob[i + 1] === '*';
      if (isDeep) i++;
      if (isDeep && glob[i + 1] === '/') { source += '(?:.*/)?'; i++; } else source += isDeep ? '.*' : '[^/]*';
    } else if (c === '{') { source += '(?:'; depth++; }
    else if (c === '}' && depth > 0) { source += ')'; depth--; }
    else if (c === ',' && depth > 0) source += '|';
    else source += c.replace(/[.+?^$()|[\]{}]/g, '\\$&');
  }
  return source;
}
