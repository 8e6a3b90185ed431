// URL and URLSearchParams, for addresses with an authority.

const DEFAULT_PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21' };

class URLSearchParams {
  constructor(init = '') {
    this._pairs = [];
    this._changed = null;
    if (typeof init === 'string') this._parse(init);
    else if (init[Symbol.iterator]) for (const [name, value] of init) this.append(name, value);
    else for (const [name, value] of Object.entries(init)) this.append(name, value);
  }

  _parse(text) {
    for (const pair of text.replace(/^\?/, '').split('&').filter(part => part)) {
      const [name, ...value] = pair.split('=');
      const decode = part => {
        try { return decodeURIComponent(part.replace(/\+/g, ' ')); } catch { return part; }
      };
      this._pairs.push([decode(name), decode(value.join('='))]);
    }
  }

  _update() { if (this._changed) this._changed(this.toString()); }
  append(name, value) { this._pairs.push([String(name), String(value)]); this._update(); }
  delete(name) { this._pairs = this._pairs.filter(pair => pair[0] !== name); this._update(); }
  get(name) { const pair = this._pairs.find(item => item[0] === name); return pair ? pair[1] : null; }
  getAll(name) { return this._pairs.filter(pair => pair[0] === name).map(pair => pair[1]); }
  has(name) { return this._pairs.some(pair => pair[0] === name); }
  set(name, value) {
    const pair = this._pairs.find(item => item[0] === name);
    if (!pair) { this.append(name, value); return; }
    pair[1] = String(value);
    this._pairs = this._pairs.filter(item => item[0] !== name || item === pair);
    this._update();
  }
  sort() { this._pairs.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); this._update(); }
  forEach(callback) { for (const [name, value] of this._pairs) callback(value, name, this); }
  keys() { return this._pairs.map(pair => pair[0])[Symbol.iterator](); }
  values() { return this._pairs.map(pair => pair[1])[Symbol.iterator](); }
  entries() { return this._pairs.map(pair => [...pair])[Symbol.iterator](); }
  [Symbol.iterator]() { return this.entries(); }
  get size() { return this._pairs.length; }
  toString() {
    const encode = text => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g, c =>
      `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    return this._pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
  _inspect() {
    return `URLSearchParams { ${this._pairs.map(([name, value]) => `${quote(name)} => ${quote(value)}`).join(', ')} }`;
  }
}

const URL_PATTERN = /^([a-z][a-z0-9+.-]*:)(?:\/\/(?:([^/?#@]*)@)?([^/?#:]*|\[[^\]]*\])(?::(\d*))?)?([^?#]*)(\?[^#]*)?(#.*)?$/i;

class URL {
  constructor(input, base) {
    let text = String(input).trim();
    if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) {
      if (base === undefined) throw invalidUrl(text);
      text = resolveUrl(text, new URL(base));
    }
    const parts = URL_PATTERN.exec(text);
    if (!parts) throw invalidUrl(text);
    const [, protocol, login = '', hostname = '', port = '', path, search = '', hash = ''] = parts;
    this.protocol = protocol.toLowerCase();
    this._hasAuthority = /^[^:]+:\/\//.test(text);
    if (this.protocol in DEFAULT_PORTS && !hostname) throw invalidUrl(text);
    [this.username, this.password] = [...login.split(':'), '', ''].slice(0, 2);
    this.hostname = hostname.toLowerCase();
    this.port = port === DEFAULT_PORTS[this.protocol] ? '' : port;
    this.pathname = this._hasAuthority ? encodeUrlPart(normalizePath(path || '/')) : path;
    this._search = search === '?' ? '' : encodeUrlPart(search);
    this.hash = hash === '#' ? '' : encodeUrlPart(hash);
    this.searchParams = new URLSearchParams(this._search);
    this.searchParams._changed = value => { this._search = value ? `?${value}` : ''; };
  }

  static canParse(input, base) { try { return !!new URL(input, base); } catch { return false; } }
  get search() { return this._search; }
  set search(value) {
    this._search = value && value !== '?' ? `?${String(value).replace(/^\?/, '')}` : '';
    this.searchParams._pairs = [];
    this.searchParams._parse(this._search);
  }
  get host() { return this.port ? `${this.hostname}:${this.port}` : this.hostname; }
  get origin() { return this.protocol in DEFAULT_PORTS ? `${this.protocol}//${this.host}` : 'null'; }
  get href() {
    const login = this.username ? `${this.username}${this.password ? `:${this.password}` : ''}@` : '';
    const authority = this._hasAuthority ? `//${login}${this.host}` : '';
    return `${this.protocol}${authority}${this.pathname}${this._search}${this.hash}`;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
  _inspect() { return `URL { href: ${quote(this.href)} }`; }
}

function invalidUrl(text) {
  const error = new TypeError('Invalid URL');
  error.code = 'ERR_INVALID_URL';
  error.input = text;
  return error;
}

function encodeUrlPart(text) {
  return text.replace(/[^\x21-\x7e]|["<>`]/g, c => {
    try { return encodeURIComponent(c); } catch { return '%EF%BF%BD'; }
  });
}

function normalizePath(path) {
  const result = [];
  const parts = path.split('/').slice(1);
  parts.forEach((part, i) => {
    if (part === '..') { result.pop(); if (i === parts.length - 1) result.push(''); }
    else if (part === '.') { if (i === parts.length - 1) result.push(''); }
    else result.push(part);
  });
  return `/${result.join('/')}`;
}

function resolveUrl(text, base) {
  if (!base._hasAuthority) throw invalidUrl(text);
  const login = base.username ? `${base.username}${base.password ? `:${base.password}` : ''}@` : '';
  const root = `${base.protocol}//${login}${base.host}`;
  if (text.startsWith('//')) return base.protocol + text;
  if (text.startsWith('/')) return root + text;
  if (text.startsWith('?')) return root + base.pathname + text;
  if (text.startsWith('#')) return root + base.pathname + base._search + text;
  if (!text) return root + base.pathname + base._search;
  return root + base.pathname.replace(/[^/]*$/, '') + text;
}
