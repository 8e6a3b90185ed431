// Errors, and the messages about methods that do not exist.

class TimeoutError extends Error {
  constructor(message) {
    super(message);
    this.name = 'TimeoutError';
  }
}

// Methods of Playwright that programs cannot use here, with the reason.
const NOT_AVAILABLE = {
  route: 'requests cannot be intercepted', unroute: 'requests cannot be intercepted',
  unrouteAll: 'requests cannot be intercepted', routeFromHAR: 'requests cannot be intercepted',
  routeWebSocket: 'requests cannot be intercepted', exposeFunction: 'pages cannot call functions of the program',
  exposeBinding: 'pages cannot call functions of the program',
  path: 'programs have no files; artifactUrl() returns the URL of a download',
  createReadStream: 'programs have no files; artifactUrl() returns the URL of a download',
  newContext: 'a session has one context', launch: 'a session has one browser',
  connectOverCDP: 'a session has one browser', newCDPSession: 'use the cdpUrl of the session',
  newBrowserCDPSession: 'use the cdpUrl of the session', pause: 'use the live view of the session',
  tracing: 'programs have no files', video: 'programs have no files', request: 'programs have no network but the page',
  grantPermissions: 'the session has fixed permissions', clearPermissions: 'the session has fixed permissions',
  setGeolocation: 'the session has a fixed location', setOffline: 'the network of a session is fixed',
  coverage: 'it is not supported', accessibility: 'it was removed from Playwright', clock: 'it is not supported',
  touchscreen: 'it is not supported', tap: 'use click', highlight: 'use screenshot', workers: 'it is not supported',
  startTracing: 'programs have no files', stopTracing: 'programs have no files', requestGC: 'it is not supported',
  addLocatorHandler: 'it is not supported', removeLocatorHandler: 'it is not supported',
  serviceWorkers: 'it is not supported', backgroundPages: 'it is not supported',
};

// Returns the number of edits between two names.
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

function closestName(name, names) {
  let best = null;
  let least = Infinity;
  const lower = name.slice(0, 60).toLowerCase();
  for (const other of names) {
    const candidate = other.toLowerCase();
    const isPart = lower.length > 2 && (candidate.includes(lower) || lower.includes(candidate));
    const distance = editDistance(lower, candidate) - (isPart ? 3 : 0);
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

// Names that JavaScript and its tools look up on every object.
const LOOKED_UP = ['then', 'toJSON', 'constructor', 'inspect', 'nodeType', 'tagName', 'asymmetricMatch', 'length'];

// The names of the objects that reject unknown ones.
const KNOWN_NAMES = new Map();

// The end of the prototype chains of these objects: reading a name gets here if nothing before has it.
const UNKNOWN_NAME = new Proxy(Object.prototype, {
  get(target, name, receiver) {
    const known = KNOWN_NAMES.get(typeOf(receiver));
    if (!known || typeof name === 'symbol' || name in target || name.startsWith('_') || LOOKED_UP.includes(name)) {
      return Reflect.get(target, name, receiver);
    }
    const { label, names } = known;
    if (Object.hasOwn(NOT_AVAILABLE, name)) {
      throw new TypeError(`${label}.${name} is not available in this sandbox: ${NOT_AVAILABLE[name]}`);
    }
    throw new TypeError(`${label}.${name} does not exist; did you mean ${label}.${closestName(name, names)}?`);
  },
});

function typeOf(value) {
  for (let proto = Object.getPrototypeOf(value); proto; proto = Object.getPrototypeOf(proto)) {
    const found = Object.getOwnPropertyDescriptor(proto, 'constructor');
    if (found) return found.value;
  }
  return null;
}

// Makes reading an unknown name of these objects an error that names the closest one that exists.
function rejectUnknown(type, label) {
  const names = new Set();
  let root = type.prototype;
  for (let proto = root; proto && proto !== Object.prototype && proto !== UNKNOWN_NAME;
    proto = Object.getPrototypeOf(proto)) {
    Object.getOwnPropertyNames(proto).filter(name => !name.startsWith('_') && name !== 'constructor')
      .forEach(name => names.add(name));
    root = proto;
  }
  KNOWN_NAMES.set(type, { label, names });
  if (Object.getPrototypeOf(root) === Object.prototype) Object.setPrototypeOf(root, UNKNOWN_NAME);
}

// Puts the name of the called method in front of the errors of these methods.
function titleErrors(type, label, names) {
  for (const name of names) {
    const method = type.prototype[name];
    if (typeof method !== 'function') throw new Error(`library: ${label}.${name} does not exist`);
    const titled = async function (...values) {
      try {
        return await method.apply(this, values);
      } catch (error) {
        throw titleError(error, `${label}.${name}`);
      }
    };
    Object.defineProperty(titled, 'name', { value: name });
    Object.defineProperty(type.prototype, name, { value: titled, writable: true, configurable: true });
  }
}

function titleError(error, title) {
  if (error instanceof Error && !error._isTitled) {
    error.message = `${title}: ${error.message}`;
    Object.defineProperty(error, '_isTitled', { value: true });
  }
  return error;
}
