// The context with its pages, and the browser.

class BrowserContext extends Emitter {
  constructor(browser) {
    super();
    const state = { _browser: browser, _pages: [], _id: undefined, _timeouts: {}, _scripts: [], _isReady: false };
    for (const [name, value] of Object.entries(state)) Object.defineProperty(this, name, { value, writable: true });
  }

  // Finds the pages that exist, and follows those that open and close.
  async _start(targetId, sessionId) {
    const page = this._add({ targetId, url: 'about:blank' }, sessionId);
    const infos = [];
    browserSession.on('Target.targetCreated', ({ targetInfo }) => {
      if (this._isReady) this._targetCreated(targetInfo);
      else infos.push(targetInfo);
    });
    browserSession.on('Target.targetDestroyed', event => this._targetClosed(event));
    browserSession.on('Target.detachedFromTarget', event => this._targetClosed(event));
    browserSession.on('Browser.downloadWillBegin', event => this._downloadStarted(event));
    browserSession.on('Browser.downloadProgress', event => this._downloadChanged(event));
    const known = browserSession.send('Target.setDiscoverTargets', { discover: true }).catch(ignore)
      .then(() => browserSession.send('Target.getTargets')).catch(() => ({ targetInfos: [] }));
    const [{ targetInfos }] = await Promise.all([known, page._whenReady()]);
    const own = [...targetInfos, ...infos].find(info => info.targetId === targetId);
    this._id = own && own.browserContextId;
    // A page that has not answered has its URL from its target.
    if (own && !page._main._loaderId) page._main._url = own.url;
    this._isReady = true;
    await Promise.all(targetInfos.concat(infos).map(info => this._targetCreated(info, true)));
    return page;
  }

  _add({ targetId, url }, sessionId, opener) {
    const page = new Page(this, targetId, sessionId, url, opener);
    this._pages.push(page);
    return page;
  }

  async _targetCreated(info, isOld = false) {
    const isOwn = info.type === 'page' && info.browserContextId === this._id;
    if (!isOwn || this._pages.some(page => page._targetId === info.targetId) || this._attaching.has(info.targetId)) return;
    this._attaching.add(info.targetId);
    try {
      const { sessionId } = await browserSession.send('Target.attachToTarget', { targetId: info.targetId, flatten: true });
      const opener = this._pages.find(page => page._targetId === info.openerId) || null;
      const page = this._add(info, sessionId, opener);
      await page._whenReady();
      for (const source of this._scripts) {
        await page._session.send('Page.addScriptToEvaluateOnNewDocument', { source });
      }
      if (isOld) return;
      this.emit('page', page);
      if (opener) opener.emit('popup', page);
    } catch (error) {
      // A page that closes at once is none.
      ignore(error);
    } finally {
      this._attaching.delete(info.targetId);
      this._changed();
    }
  }

  get _attaching() { return lazy(this, '_attaching', () => new Set()); }
  get _waiting() { return lazy(this, '_waiting', () => new Set()); }
  _changed() { for (const waiter of [...this._waiting]) waiter(); }

  _targetClosed({ targetId, sessionId }) {
    const page = this._pages.find(item => item._targetId === targetId || (sessionId && item._session.id === sessionId));
    if (!page) return;
    this._pages = this._pages.filter(item => item !== page);
    page._close();
    if (!this._pages.length) this.emit('close', this);
  }

  _downloadStarted(event) {
    if (this._downloads.has(event.guid)) return;
    const isListening = item => item.listenerCount('download') > 0;
    const owner = this._pages.find(item => item._frames.has(event.frameId));
    // A link that opens a window may lead to a download: the window closes, may not be known yet, and nothing can listen there.
    const isWindow = !owner || (owner._opener && !isListening(owner));
    const page = (isWindow && this._pages.find(isListening)) || owner || this._pages[0];
    if (!page) return;
    const download = new Download(page, event);
    this._downloads.set(event.guid, download);
    page._navigating.delete(event.frameId);
    // Nothing waits for it.
    if (!page.emit('download', download)) download.cancel().catch(ignore);
    page._check();
  }
  get _downloads() { return lazy(this, '_downloads', () => new Map()); }
  _downloadChanged({ guid, state, reason }) {
    const download = this._downloads.get(guid);
    if (!download || download._state === 'canceled') return;
    download._state = state;
    download._reason = reason || null;
    this._changed();
  }
  // Waits until the condition is true, which is checked after each change of a download or a page.
  _untilChanged(condition, deadline) {
    let waiter;
    const met = new Promise(resolve => {
      waiter = () => { if (condition()) resolve(); };
      this._waiting.add(waiter);
      waiter();
    });
    return deadline.race(met).finally(() => this._waiting.delete(waiter));
  }

  // The page that requests about the whole context go to.
  get _any() {
    if (!this._pages.length) throw new Error('Target page, context or browser has been closed');
    return this._pages[0];
  }

  browser() { return this._browser; }
  pages() { return [...this._pages]; }
  setDefaultTimeout(ms) { this._timeouts.action = ms; }
  setDefaultNavigationTimeout(ms) { this._timeouts.navigation = ms; }

  async newPage() {
    const { targetId } = await browserSession.send('Target.createTarget', {
      url: 'about:blank', ...(this._id ? { browserContextId: this._id } : {}),
    });
    const find = () => this._pages.find(page => page._targetId === targetId);
    await this._targetCreated({ type: 'page', targetId, url: 'about:blank', browserContextId: this._id });
    if (!find()) {
      await new Deadline(this._any._timeout()).race(new Promise(resolve => {
        const waiter = () => { if (find()) { this._waiting.delete(waiter); resolve(); } };
        this._waiting.add(waiter);
        waiter();
      }));
    }
    await find()._untilReady();
    return find();
  }

  async cookies(urls) {
    const list = urls === undefined ? [] : [].concat(urls);
    const session = this._any._session;
    const { cookies } = list.length ? await session.send('Network.getCookies', { urls: list })
      : await session.send('Network.getAllCookies');
    return cookies.map(({ name, value, domain, path, expires, httpOnly, secure, sameSite = 'Lax' }) =>
      ({ name, value, domain, path, expires, httpOnly, secure, sameSite }));
  }
  async addCookies(cookies) {
    for (const cookie of cookies) {
      if (!cookie.url && !(cookie.domain && cookie.path)) {
        throw new Error('Cookie should have a url or a domain/path pair');
      }
    }
    await this._any._session.send('Network.setCookies', { cookies });
  }
  async clearCookies(filter = {}) {
    if (!Object.keys(filter).length) { await this._any._session.send('Network.clearBrowserCookies'); return; }
    const matches = (wanted, value) => wanted === undefined || (wanted instanceof RegExp ? wanted.test(value) : wanted === value);
    for (const { name, domain, path } of await this.cookies()) {
      if (matches(filter.name, name) && matches(filter.domain, domain) && matches(filter.path, path)) {
        await this._any._session.send('Network.deleteCookies', { name, domain, path });
      }
    }
  }
  async storageState() {
    const origins = [];
    for (const page of this._pages) {
      const state = await page._main._utilityValue(`({ origin: location.origin,
        localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })) })`).catch(() => null);
      if (state && state.localStorage.length && !origins.some(({ origin }) => origin === state.origin)) origins.push(state);
    }
    return { cookies: await this.cookies(), origins };
  }
  async addInitScript(script, argument) {
    const source = typeof script === 'function' ? `(${functionSource(script)})(${JSON.stringify(argument)})`
      : typeof script === 'string' ? script : script.content;
    this._scripts.push(source);
    await Promise.all(this._pages.map(page =>
      page._session.send('Page.addScriptToEvaluateOnNewDocument', { source })));
  }
  async setExtraHTTPHeaders(headers) {
    await Promise.all(this._pages.map(page => page.setExtraHTTPHeaders(headers)));
  }
  async waitForEvent(name, options = {}) {
    const { predicate, timeout } = typeof options === 'function' ? { predicate: options } : options;
    const deadline = new Deadline(timeout ?? this._timeouts.action ?? defaultTimeout);
    return waitForEmitted(this, name, predicate, deadline);
  }
  async close() { throw new Error('delete the session to close its browser'); }
  _inspect() { return `BrowserContext { ${this._pages.length} pages }`; }
}

class Browser extends Emitter {
  constructor() {
    super();
    Object.defineProperties(this, { _contexts: { value: [] }, _version: { value: '', writable: true } });
  }

  contexts() { return [...this._contexts]; }
  isConnected() { return !isClosed; }
  version() { return this._version; }
  async newPage() { return this._contexts[0].newPage(); }
  async close() { throw new Error('delete the session to close its browser'); }
  _inspect() { return 'Browser {}'; }
}
