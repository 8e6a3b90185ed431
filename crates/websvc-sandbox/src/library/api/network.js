// Requests and responses of a page, messages of its console, dialogs and downloads.

class Request {
  constructor(page, event, redirectedFrom) {
    const hidden = { _page: page, _event: event, _from: redirectedFrom, _to: null, _response: null, _failure: null };
    for (const [name, value] of Object.entries(hidden)) Object.defineProperty(this, name, { value, writable: true });
  }

  url() { return this._event.request.url + (this._event.request.urlFragment || ''); }
  method() { return this._event.request.method; }
  headers() { return lowerNames(this._event.request.headers); }
  async allHeaders() { return this.headers(); }
  async headerValue(name) { return this.headers()[name.toLowerCase()] ?? null; }
  postData() { return this._event.request.postData ?? null; }
  postDataJSON() {
    const data = this.postData();
    if (data === null) return null;
    const isForm = (this.headers()['content-type'] || '').includes('application/x-www-form-urlencoded');
    return isForm ? Object.fromEntries(new URLSearchParams(data)) : JSON.parse(data);
  }
  resourceType() { return (this._event.type || 'other').toLowerCase(); }
  isNavigationRequest() { return this._event.requestId === this._event.loaderId && this._event.type === 'Document'; }
  redirectedFrom() { return this._from; }
  redirectedTo() { return this._to; }
  failure() { return this._failure; }
  frame() { return this._page._frames.get(this._event.frameId) || this._page.mainFrame(); }
  async response() {
    await this._page._until(() => this._response || this._failure, new Deadline(this._page._timeout()));
    return this._response;
  }
  _inspect() { return `Request { ${this.method()} ${this.url()} }`; }
}

class Response {
  constructor(request, data) {
    Object.defineProperties(this, {
      _request: { value: request }, _data: { value: data }, _isFinished: { value: false, writable: true },
    });
  }

  url() { return this._data.url; }
  status() { return this._data.status; }
  statusText() { return this._data.statusText; }
  ok() { return this.status() === 0 || (this.status() >= 200 && this.status() <= 299); }
  headers() { return lowerNames(this._data.headers); }
  async allHeaders() { return this.headers(); }
  async headerValue(name) { return this.headers()[name.toLowerCase()] ?? null; }
  async headersArray() { return Object.entries(this._data.headers).map(([name, value]) => ({ name, value })); }
  request() { return this._request; }
  frame() { return this._request.frame(); }
  fromServiceWorker() { return !!this._data.fromServiceWorker; }
  async finished() {
    const page = this._request._page;
    await page._until(() => this._isFinished || this._request._failure, new Deadline(page._timeout()));
    return this._request._failure ? new Error(this._request._failure.errorText) : null;
  }
  async body() {
    await this.finished();
    const { requestId } = this._request._event;
    const session = this._request.frame()._session;
    const { body, base64Encoded } = await session.send('Network.getResponseBody', { requestId });
    return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
  }
  async text() { return (await this.body()).toString(); }
  async json() { return JSON.parse(await this.text()); }
  _inspect() { return `Response { ${this.status()} ${this.url()} }`; }
}

function lowerNames(headers) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

class ConsoleMessage {
  constructor(page, { type, args, stackTrace }) {
    const frame = stackTrace && stackTrace.callFrames[0] || {};
    Object.defineProperties(this, { _page: { value: page }, _type: { value: type }, _args: { value: args } });
    Object.defineProperty(this, '_location', {
      value: { url: frame.url || '', lineNumber: frame.lineNumber || 0, columnNumber: frame.columnNumber || 0 },
    });
  }

  page() { return this._page; }
  type() { return this._type; }
  text() { return this._args.map(remoteText).join(' '); }
  location() { return { ...this._location }; }
  args() { return this._args.map(remote => makeHandle(this._page.mainFrame()._main, remote)); }
  _inspect() { return `ConsoleMessage { ${this._type}: ${quote(this.text())} }`; }
}

function remoteText({ type, value, unserializableValue, preview, description }) {
  if (unserializableValue !== undefined) return unserializableValue;
  if (type === 'undefined') return 'undefined';
  if (!preview) return value === undefined ? description || type : typeof value === 'string' ? value : String(value);
  const item = part => part.type === 'string' || part.type === 'object' ? part.value : part.value;
  if (preview.subtype === 'array') return `[${preview.properties.map(item).join(', ')}]`;
  if (preview.subtype) return description;
  return `{${preview.properties.map(part => `${part.name}: ${item(part)}`).join(', ')}}`;
}

class Dialog {
  constructor(page, event) {
    Object.defineProperties(this, { _page: { value: page }, _event: { value: event },
      _isHandled: { value: false, writable: true } });
  }

  page() { return this._page; }
  type() { return this._event.type; }
  message() { return this._event.message; }
  defaultValue() { return this._event.defaultPrompt || ''; }
  async accept(promptText) { await this._handle(true, promptText); }
  async dismiss() { await this._handle(false); }

  async _handle(accept, promptText) {
    if (this._isHandled) throw new Error('Cannot accept dialog which is already handled!');
    this._isHandled = true;
    const text = accept ? promptText ?? (this.type() === 'prompt' ? this.defaultValue() : undefined) : undefined;
    const params = { accept };
    if (text !== undefined) params.promptText = text;
    await this._page._session.send('Page.handleJavaScriptDialog', params);
  }
}

class Download {
  constructor(page, { guid, url, suggestedFilename }) {
    Object.defineProperties(this, { _page: { value: page }, _guid: { value: guid }, _url: { value: url },
      _name: { value: suggestedFilename }, _state: { value: 'inProgress', writable: true },
      _reason: { value: null, writable: true }, _artifact: { value: null, writable: true } });
  }

  page() { return this._page; }
  url() { return this._url; }
  suggestedFilename() { return this._name; }
  async cancel() {
    if (this._state !== 'inProgress') return;
    await browserSession.send('Browser.cancelDownload', { guid: this._guid }).catch(ignore);
    await this._ended();
  }
  async failure() {
    await this._ended();
    return this._state === 'canceled' ? this._reason || 'canceled' : null;
  }
  // Stores the file under a name. Programs have no files, so only the name of a path counts.
  async saveAs(path) {
    if (typeof path !== 'string' || !path) throw new TypeError('path: expected a string, the name of the file');
    this._artifact = await this._store({ name: path });
  }
  // The URL from which clients get the file. Playwright has no such method.
  async artifactUrl() {
    this._artifact ??= await this._store({});
    return this._artifact.url;
  }
  async delete() { await this.cancel(); }

  // A page that has closed may have downloads.
  async _ended() {
    const context = this._page.context();
    await context._untilChanged(() => this._state !== 'inProgress', new Deadline(this._page._timeout()));
  }

  async _store(params) {
    try {
      return await browserSession.send('Websvc.storeDownload', { guid: this._guid, ...params });
    } catch (error) {
      throw new Error(error.message.replace('Protocol error (Websvc.storeDownload): ', ''));
    }
  }
  _inspect() { return `Download { ${this._name} ${this._url} }`; }
}

// Requests that a page remembers.
const MAX_REQUESTS = 1000;

// Follows the events of the network of a session of a page.
function watchNetwork(page, session) {
  const requests = page._requests;
  session.on('Network.requestWillBeSent', event => {
    const earlier = requests.get(event.requestId);
    if (event.redirectResponse && earlier) {
      receiveResponse(page, earlier, event.redirectResponse);
      finishRequest(page, earlier);
    }
    const request = new Request(page, event, event.redirectResponse ? earlier || null : null);
    if (request._from) request._from._to = request;
    requests.delete(event.requestId);
    requests.set(event.requestId, request);
    if (requests.size > MAX_REQUESTS) requests.delete(requests.keys().next().value);
    page.emit('request', request);
  });
  session.on('Network.responseReceived', ({ requestId, response, type }) => {
    const request = requests.get(requestId);
    if (!request) return;
    request._event.type = type;
    receiveResponse(page, request, response);
  });
  session.on('Network.loadingFinished', ({ requestId }) => {
    if (requests.has(requestId)) finishRequest(page, requests.get(requestId));
  });
  session.on('Network.loadingFailed', ({ requestId, errorText }) => {
    const request = requests.get(requestId);
    if (!request) return;
    request._failure = { errorText };
    page._check();
    page.emit('requestfailed', request);
  });
}

function receiveResponse(page, request, data) {
  request._response = new Response(request, data);
  page._check();
  page.emit('response', request._response);
}

function finishRequest(page, request) {
  if (request._response) request._response._isFinished = true;
  page._check();
  page.emit('requestfinished', request);
}
