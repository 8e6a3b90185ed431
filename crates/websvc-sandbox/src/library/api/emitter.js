// Events, and waiting for something with a time limit.

class Emitter {
  constructor() {
    Object.defineProperty(this, '_listeners', { value: new Map() });
  }

  on(name, listener) {
    if (typeof listener !== 'function') throw new TypeError('The "listener" argument must be of type function');
    if (!this._listeners.has(name)) this._listeners.set(name, []);
    this._listeners.get(name).push({ listener });
    return this;
  }

  once(name, listener) {
    this.on(name, listener);
    this._listeners.get(name).at(-1).isOnce = true;
    return this;
  }

  off(name, listener) {
    const list = this._listeners.get(name) || [];
    const at = list.findIndex(entry => entry.listener === listener);
    if (at >= 0) list.splice(at, 1);
    return this;
  }

  addListener(name, listener) { return this.on(name, listener); }
  removeListener(name, listener) { return this.off(name, listener); }
  removeAllListeners(name) {
    if (name === undefined) this._listeners.clear();
    else this._listeners.delete(name);
    return this;
  }
  listenerCount(name) { return (this._listeners.get(name) || []).length; }

  emit(name, ...values) {
    const list = this._listeners.get(name) || [];
    for (const entry of [...list]) {
      if (entry.isOnce) this.off(name, entry.listener);
      try {
        const result = entry.listener.apply(this, values);
        if (result && typeof result.then === 'function') result.then(undefined, endWithError);
      } catch (error) {
        endWithError(error);
      }
    }
    return list.length > 0;
  }
}

// The end of the time for an operation. A time of 0 has no end.
class Deadline {
  constructor(ms) {
    this.ms = ms;
    this.at = ms === 0 ? Infinity : host.now() + ms;
  }

  get left() { return Math.max(0, this.at - host.now()); }
  get isOver() { return this.left <= 0; }

  error(detail = '') {
    return new TimeoutError(`Timeout ${this.ms}ms exceeded.${detail}`);
  }

  // Waits for a promise, at most until the deadline. `detail` returns the text after the message.
  race(promise, detail = () => '') {
    if (this.at === Infinity) return promise;
    return new Promise((resolve, reject) => {
      const timer = addTimer(() => reject(this.error(detail())), this.left, []);
      promise.then(resolve, reject).finally(() => clearTimer(timer));
    });
  }
}

function callLog(lines) {
  return lines.length ? `\nCall log:\n${lines.map(line => `  - ${line}`).join('\n')}\n` : '';
}

// Waits for an event for which `predicate` returns true.
function waitForEmitted(emitter, name, predicate, deadline, title) {
  let listener;
  const found = new Promise((resolve, reject) => {
    listener = async value => {
      try {
        if (!predicate || await predicate(value)) resolve(value);
      } catch (error) {
        reject(error);
      }
    };
    emitter.on(name, listener);
  });
  const error = () => new TimeoutError(`Timeout ${deadline.ms}ms exceeded while waiting for event "${title || name}"`);
  return deadline.race(found).catch(reason => { throw reason instanceof TimeoutError ? error() : reason; })
    .finally(() => emitter.off(name, listener));
}
