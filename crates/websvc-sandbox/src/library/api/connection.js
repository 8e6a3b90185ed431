// The DevTools protocol: requests, responses and events of the browser and of attached targets.

// Kept from before the program, which may replace them.
const { parse: fromJson, stringify: toJson } = JSON;

let lastId = 0;
let isClosed = false;
const pending = new Map();
const sessions = new Map();

class Session {
  constructor(id) {
    this.id = id;
    this.listeners = new Map();
    this.isClosed = false;
    sessions.set(id, this);
  }

  send(method, params = {}) {
    if (isClosed || this.isClosed) return Promise.reject(new Error('Target page, context or browser has been closed'));
    const id = ++lastId;
    const message = { id, method, params };
    if (this.id) message.sessionId = this.id;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject, method, session: this.id });
      if (!host.send(toJson(message))) {
        pending.delete(id);
        reject(new Error(`Protocol error (${method}): the message is too long`));
      }
    });
  }

  on(method, listener) {
    if (!this.listeners.has(method)) this.listeners.set(method, []);
    this.listeners.get(method).push(listener);
  }

  dispatch(method, params) {
    for (const listener of this.listeners.get(method) || []) listener(params);
  }

  close() {
    this.isClosed = true;
    sessions.delete(this.id);
    for (const [id, request] of pending) {
      if (request.session !== this.id) continue;
      pending.delete(id);
      request.reject(new Error('Target page, context or browser has been closed'));
    }
  }
}

// The session of the browser itself has no id.
const browserSession = new Session('');

function receiveMessage(text) {
  const message = fromJson(text);
  if (message.id !== undefined) {
    const request = pending.get(message.id);
    if (!request) return;
    pending.delete(message.id);
    if (message.error) request.reject(new Error(`Protocol error (${request.method}): ${message.error.message}`));
    else request.resolve(message.result || {});
    return;
  }
  const session = sessions.get(message.sessionId || '');
  if (session) session.dispatch(message.method, message.params || {});
}

function closeConnection() {
  isClosed = true;
  for (const request of pending.values()) {
    request.reject(new Error('Target page, context or browser has been closed'));
  }
  pending.clear();
}

const ignore = () => {};
