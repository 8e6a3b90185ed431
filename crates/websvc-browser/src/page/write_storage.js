// Restores the storage of `origin` from the JSON of read_storage.js, and returns the names of what could not be restored.
(async (origin, text) => {
  if (location.origin !== origin) throw new Error(`this is ${location.origin}`);
  const { local, session, databases } = JSON.parse(text);
  const lost = new Set();
  const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const own = (object, key, value) =>
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const buffer = (base64, maxByteLength) => {
    const data = bytes(base64);
    if (maxByteLength === null) return data.buffer;
    const made = new ArrayBuffer(data.length, { maxByteLength });
    new Uint8Array(made).set(data);
    return made;
  };
  // Creates the values that do not depend on other nodes. Containers are filled later.
  const start = ([kind, ...parts]) => {
    switch (kind) {
      case 'undefined': return undefined;
      case 'number': return Number(parts[0]);
      case 'bigint': return BigInt(parts[0]);
      case 'object': return {};
      case 'array': return new Array(parts[0]);
      case 'map': return new Map();
      case 'set': return new Set();
      case 'date': return new Date(parts[0] ?? NaN);
      case 'regexp': return new RegExp(parts[0], parts[1]);
      case 'buffer': return buffer(parts[0], parts[1]);
      case 'blob': return new Blob([bytes(parts[0])], { type: parts[1] });
      case 'file': return new File([bytes(parts[0])], parts[2], { type: parts[1], lastModified: parts[3] });
      case 'error': {
        const error = new (ERRORS[parts[0]] ?? Error)(parts[1]);
        if (parts[2] !== null) Object.defineProperty(error, 'stack', { value: parts[2], configurable: true });
        return error;
      }
      case 'view': case 'boxed': case 'image': return null;
      default: throw new TypeError(kind);
    }
  };
  const decode = ([root, nodes]) => {
    const made = nodes.map(start);
    const value = (slot) => Array.isArray(slot) ? made[slot[0]] : slot;
    for (const [at, [kind, ...parts]] of nodes.entries()) {
      if (kind === 'view') made[at] = new globalThis[parts[0]](value(parts[1]), parts[2], parts[3]);
      if (kind === 'boxed') made[at] = Object(value(parts[0]));
    }
    for (const [at, [kind, ...parts]] of nodes.entries()) {
      if (kind === 'image') made[at] = new ImageData(value(parts[0]), parts[1], parts[2], { colorSpace: parts[3] });
    }
    for (const [at, [kind, ...parts]] of nodes.entries()) {
      const list = parts.at(-1);
      if (kind === 'object' || kind === 'array') {
        for (let n = 0; n < list.length; n += 2) own(made[at], list[n], value(list[n + 1]));
      } else if (kind === 'map') {
        for (let n = 0; n < list.length; n += 2) made[at].set(value(list[n]), value(list[n + 1]));
      } else if (kind === 'set') {
        for (const item of list) made[at].add(value(item));
      } else if (kind === 'error' && parts.length === 4) {
        Object.defineProperty(made[at], 'cause', { value: value(list), writable: true, configurable: true });
      }
    }
    return value(root);
  };

  // Advances the key generator of the store, so that keys of deleted records are not used again.
  const advanceGenerator = (store, number) => {
    const sample = {};
    if (store.keyPath !== null) {
      const path = store.keyPath.split('.');
      const last = path.pop();
      let inner = sample;
      for (const step of path) inner = inner[step] = {};
      inner[last] = number;
    }
    const request = store.keyPath === null ? store.add(sample, number) : store.add(sample);
    request.onsuccess = () => store.delete(number);
    request.onerror = (event) => event.preventDefault();
  };
  const fill = (database, { name, keyPath, autoIncrement, next, indexes, records }) => {
    const store = database.createObjectStore(name, { keyPath, autoIncrement });
    for (const index of indexes) {
      store.createIndex(index.name, index.keyPath, { unique: index.unique, multiEntry: index.multiEntry });
    }
    const missed = (error) => lost.add(`a record of ${database.name}/${name} (${error.name})`);
    for (const record of records) {
      try {
        store.put(...record.map(decode)).onerror = (event) => {
          event.preventDefault();
          missed(event.target.error);
        };
      } catch (error) {
        missed(error);
      }
    }
    if (next > 1) advanceGenerator(store, next - 1);
  };
  const restore = ({ name, version, stores }) => new Promise((resolve) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {
      try {
        for (const store of stores) fill(request.result, store);
      } catch {
        request.transaction.abort();
      }
    };
    request.onsuccess = () => {
      request.result.close();
      resolve();
    };
    request.onerror = () => {
      lost.add(`the database ${name}`);
      resolve();
    };
  });

  for (const [name, storage, pairs] of [['localStorage', localStorage, local], ['sessionStorage', sessionStorage, session]]) {
    try {
      for (const [key, value] of pairs) storage.setItem(key, value);
    } catch {
      lost.add(name);
    }
  }
  for (const database of databases) await restore(database);
  return [...lost];
})
