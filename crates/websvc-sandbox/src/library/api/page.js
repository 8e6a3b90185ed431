// Pages.

const PAPER = {
  letter: [8.5, 11], legal: [8.5, 14], tabloid: [11, 17], ledger: [17, 11], a0: [33.1, 46.8], a1: [23.4, 33.1],
  a2: [16.54, 23.4], a3: [11.7, 16.54], a4: [8.27, 11.7], a5: [5.83, 8.27], a6: [4.13, 5.83],
};
const UNITS = { px: 96, in: 1, cm: 2.54, mm: 25.4 };

// The actions of a page wait this long at most for a navigation that they start.
const NAVIGATION_WAIT_MS = 10000;

// A page that is known later than this may be in an endless loop. The program can close it, or go to another document.
const READY_WAIT_MS = 2000;

class Page extends Emitter {
  constructor(context, targetId, sessionId, url, opener = null) {
    super();
    const state = {
      _context: context, _targetId: targetId, _session: new Session(sessionId), _frames: new Map(), _main: null,
      _requests: new Map(), _waiters: new Set(), _navigating: new Set(), _earlyWorlds: [], _opener: opener,
      _isClosed: false, _viewport: null, _attachedAt: host.now(), _timeouts: {}, _ready: null,
    };
    for (const [name, value] of Object.entries(state)) Object.defineProperty(this, name, { value, writable: true });
    // The main frame has the ID of the target. Its state comes with the frame tree, if the page answers.
    this._main = new Frame(this, this._session, null, { id: targetId, url, loaderId: '' });
    this._frames.set(targetId, this._main);
    this._ready = Promise.all([startSession(this, this._session, null), this._readViewport()]);
    this._ready.catch(ignore);
  }

  get keyboard() { return lazy(this, 'keyboard', () => new Keyboard(this)); }
  get mouse() { return lazy(this, 'mouse', () => new Mouse(this)); }

  // State

  async _readViewport() {
    const { cssLayoutViewport } = await this._session.send('Page.getLayoutMetrics').catch(() => ({}));
    if (cssLayoutViewport) this._viewport = { width: cssLayoutViewport.clientWidth, height: cssLayoutViewport.clientHeight };
  }

  _check() {
    for (const waiter of [...this._waiters]) waiter();
  }

  // Waits until a condition on the state of the page holds.
  _until(condition, deadline, detail) {
    if (condition()) return Promise.resolve();
    let waiter;
    const reached = new Promise((resolve, reject) => {
      waiter = () => {
        if (condition()) resolve();
        else if (this._isClosed) reject(new Error('Target page, context or browser has been closed'));
      };
      this._waiters.add(waiter);
      waiter();
    });
    return deadline.race(reached, detail).finally(() => this._waiters.delete(waiter));
  }

  _timeout() { return this._timeouts.action ?? this._context._timeouts.action ?? defaultTimeout; }
  _deadline(options) { return new Deadline(options?.timeout ?? this._timeout()); }
  _navigationDeadline(options) {
    const navigation = this._timeouts.navigation ?? this._context._timeouts.navigation;
    return new Deadline(options?.timeout ?? navigation ?? this._timeout());
  }

  // Does something that may start a navigation, and waits until that has committed.
  async _afterNavigation(act, options = {}) {
    await act();
    if (options.noWaitAfter) return;
    // The events of what the action started arrive before the answer to this.
    await Promise.race([this._session.send('Page.getLayoutMetrics').catch(ignore), sleep(200)]);
    await this._until(() => !this._navigating.size, new Deadline(NAVIGATION_WAIT_MS)).catch(error => {
      this._navigating.clear();
      if (!(error instanceof TimeoutError) && !this._isClosed) throw error;
    });
  }

  // Waits until the page is known, for a part of the time of short programs.
  _whenReady() { return Promise.race([this._ready, sleep(Math.min(READY_WAIT_MS, defaultTimeout / 4))]); }

  // Fails if the page does not answer until the timeout of an action, counted from when the program began to wait for it.
  _untilReady() {
    const ms = this._timeout();
    const left = ms && Math.max(1, Math.round(ms - (host.now() - this._attachedAt)));
    return new Deadline(left).race(this._ready, () => callLog(['waiting for the page, which does not answer: '
      + 'its scripts may be in an endless loop. page.close() closes it, context.newPage() opens another one']));
  }

  _documentResponse(loaderId) {
    const request = this._requests.get(loaderId);
    return request ? request._response : null;
  }

  _close() {
    if (this._isClosed) return;
    this._isClosed = true;
    this._session.close();
    this._check();
    this.emit('close', this);
  }

  context() { return this._context; }
  mainFrame() { return this._main; }
  frames() { return [...this._frames.values()]; }
  frame(selector) {
    const { name, url } = typeof selector === 'string' ? { name: selector } : selector;
    const matches = url === undefined ? null : urlMatcher(url);
    return this.frames().find(frame => (name !== undefined && frame.name() === name) || (matches && matches(frame.url())))
      || null;
  }
  frameLocator(selector) { return this.locator(selector).contentFrame(); }
  url() { return this._main.url(); }
  isClosed() { return this._isClosed; }
  async opener() { return this._opener; }
  viewportSize() { return this._viewport ? { ...this._viewport } : null; }
  setDefaultTimeout(ms) { this._timeouts.action = ms; }
  setDefaultNavigationTimeout(ms) { this._timeouts.navigation = ms; }

  // Navigation

  async reload(options = {}) {
    return this._renew(() => this._session.send('Page.reload'), options);
  }
  async goBack(options = {}) { return this._go(-1, options); }
  async goForward(options = {}) { return this._go(1, options); }

  async _go(by, options) {
    const { currentIndex, entries } = await this._session.send('Page.getNavigationHistory');
    const entry = entries[currentIndex + by];
    if (!entry) return null;
    return this._renew(() => this._session.send('Page.navigateToHistoryEntry', { entryId: entry.id }), options);
  }

  async _renew(start, options) {
    const deadline = this._navigationDeadline(options);
    const event = loadEvent(options.waitUntil);
    const frame = this._main;
    const before = frame._navigations;
    const loaderId = frame._loaderId;
    await deadline.race(start());
    await this._until(() => frame._navigations > before, deadline);
    await frame._waitForEvent(event, deadline);
    return frame._loaderId === loaderId ? null : this._documentResponse(frame._loaderId);
  }

  async bringToFront() { await this._session.send('Page.bringToFront'); }
  async close() {
    if (this._isClosed) return;
    await browserSession.send('Target.closeTarget', { targetId: this._targetId });
    await this._until(() => this._isClosed, new Deadline(this._timeout())).catch(ignore);
    this._close();
  }

  // Settings

  async addInitScript(script, argument) {
    const source = typeof script === 'function' ? `(${functionSource(script)})(${JSON.stringify(argument)})`
      : typeof script === 'string' ? script : script.content;
    await this._session.send('Page.addScriptToEvaluateOnNewDocument', { source });
  }
  async setViewportSize({ width, height }) {
    await this._session.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 0, mobile: false });
    this._viewport = { width, height };
  }
  async setExtraHTTPHeaders(headers) { await this._session.send('Network.setExtraHTTPHeaders', { headers }); }
  async emulateMedia({ media, colorScheme, reducedMotion, forcedColors } = {}) {
    const features = [['prefers-color-scheme', colorScheme], ['prefers-reduced-motion', reducedMotion],
      ['forced-colors', forcedColors]];
    await this._session.send('Emulation.setEmulatedMedia', {
      media: media || '', features: features.map(([name, value]) => ({ name, value: value || '' })),
    });
  }

  // Events

  async waitForEvent(name, options = {}) {
    const { predicate, timeout } = typeof options === 'function' ? { predicate: options } : options;
    return waitForEmitted(this, name, predicate, this._deadline({ timeout }));
  }
  async waitForRequest(url, options) { return this._waitForUrl('request', url, options); }
  async waitForResponse(url, options) { return this._waitForUrl('response', url, options); }
  _waitForUrl(name, url, options) {
    const matches = typeof url === 'function' ? url : (test => item => test(item.url()))(urlMatcher(url));
    return waitForEmitted(this, name, matches, this._deadline(options));
  }

  // Pictures

  async screenshot(options) { return this._capture(options); }

  async _scrollPosition() {
    const { cssVisualViewport } = await this._session.send('Page.getLayoutMetrics');
    return { x: cssVisualViewport.pageX, y: cssVisualViewport.pageY };
  }

  async _capture({ path, type = 'png', quality, fullPage, clip, omitBackground, timeout } = {}) {
    if (path !== undefined) throw new Error('path: programs have no files; use the bytes that this method returns');
    if (type !== 'png' && type !== 'jpeg') throw new Error('type: expected one of (png|jpeg)');
    const params = { format: type, captureBeyondViewport: !!(fullPage || clip) };
    if (quality !== undefined) params.quality = quality;
    if (fullPage && !clip) {
      const { cssContentSize } = await this._session.send('Page.getLayoutMetrics');
      params.clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
    } else if (clip) {
      params.clip = { ...clip, scale: 1 };
    }
    if (omitBackground) await this._background({ r: 0, g: 0, b: 0, a: 0 });
    const { data } = await this._deadline({ timeout }).race(this._session.send('Page.captureScreenshot', params));
    if (omitBackground) await this._background();
    return Buffer.from(data, 'base64');
  }
  _background(color) {
    return this._session.send('Emulation.setDefaultBackgroundColorOverride', color ? { color } : {});
  }

  async pdf({ path, format, width, height, margin = {}, ...options } = {}) {
    if (path !== undefined) throw new Error('path: programs have no files; use the bytes that this method returns');
    const paper = format ? PAPER[String(format).toLowerCase()] : null;
    if (format && !paper) throw new Error(`Unknown paper format: ${format}`);
    const { scale = 1, displayHeaderFooter = false, headerTemplate = '', footerTemplate = '', printBackground = false,
      landscape = false, pageRanges = '', preferCSSPageSize = false, outline = false, tagged = false } = options;
    const { data } = await this._session.send('Page.printToPDF', {
      paperWidth: paper ? paper[0] : inches(width, 8.5), paperHeight: paper ? paper[1] : inches(height, 11),
      marginTop: inches(margin.top, 0), marginBottom: inches(margin.bottom, 0), marginLeft: inches(margin.left, 0),
      marginRight: inches(margin.right, 0), scale, displayHeaderFooter, headerTemplate, footerTemplate,
      printBackground, landscape, pageRanges, preferCSSPageSize, generateDocumentOutline: outline,
      generateTaggedPDF: tagged, transferMode: 'ReturnAsBase64',
    });
    return Buffer.from(data, 'base64');
  }

  _inspect() { return `Page { url: ${quote(this.url())} }`; }
}

// Returns a property that is made when it is first used.
function lazy(object, name, make) {
  const value = make();
  Object.defineProperty(object, name, { value });
  return value;
}

function inches(length, other) {
  if (length === undefined) return other;
  if (typeof length === 'number') return length / 96;
  const [, number, unit] = /^([\d.]+)\s*(px|in|cm|mm)?$/.exec(length) || [];
  if (number === undefined) throw new Error(`Failed to parse parameter value: ${length}`);
  return Number(number) / UNITS[unit || 'px'];
}

// A page has the methods of its main frame. They wait until the page is known.
for (const name of Object.keys(FRAME_METHODS).filter(key => !key.startsWith('_'))) {
  Object.defineProperty(Page.prototype, name, {
    writable: true, configurable: true,
    value: { async [name](...values) {
      // A page that does not answer can still show another document.
      await (name === 'goto' ? this._whenReady() : this._untilReady());
      // The method without the title of frames in its errors.
      return FRAME_METHODS[name].apply(this._main, values);
    } }[name],
  });
}
addLocatorMethods(Page, (page, parts, description) => new Locator(page._main, parts, description));
