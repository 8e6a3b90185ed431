// Returns the storage of `origin` as {text, lost, large}. `text` is JSON for write_storage.js, or null if the storage is
// empty. `lost` names what cannot be saved. `large` is true if the JSON would be longer than `limit` characters.
(async (origin, limit) => {
  if (location.origin !== origin) throw new Error(`this is ${location.origin}`);
  class TooLarge extends Error {}
  class Unsupported extends Error {}
  const BATCH = 50;
  const lost = new Set();
  let size = 0;
  const spend = (characters) => {
    size += characters;
    if (size > limit) throw new TooLarge();
  };
  const text = (value) => {
    const json = JSON.stringify(value);
    spend(json.length + 1);
    return json;
  };
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const base64 = (bytes) => {
    spend(bytes.length * 4 / 3);
    let binary = '';
    for (let at = 0; at < bytes.length; at += 32768) {
      binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
    }
    return btoa(binary);
  };
  const file = async (blob) => {
    if (size + blob.size * 4 / 3 > limit) throw new TooLarge();
    return base64(new Uint8Array(await blob.arrayBuffer()));
  };

  // A value is encoded as a table of nodes that refer to each other by index. This preserves shared and cyclic references,
  // and no depth is too large. A slot is a JSON primitive, or [index of a node].
  const node = (value, slot) => {
    const pairs = () => Object.keys(value).flatMap((key) => [key, slot(value[key])]);
    if (value === undefined) return ['undefined'];
    if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : String(value)];
    if (typeof value === 'bigint') return ['bigint', String(value)];
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (ArrayBuffer.isView(value)) {
      return ['view', kind, slot(value.buffer), value.byteOffset, value.length ?? value.byteLength];
    }
    switch (kind) {
      case 'Object': return ['object', pairs()];
      case 'Array': return ['array', value.length, pairs()];
      case 'Map': return ['map', [...value].flat().map(slot)];
      case 'Set': return ['set', [...value].map(slot)];
      case 'Date': return ['date', Number.isNaN(value.getTime()) ? null : value.getTime()];
      case 'RegExp': return ['regexp', value.source, value.flags];
      case 'Boolean': case 'Number': case 'String': case 'BigInt': return ['boxed', slot(value.valueOf())];
      case 'ArrayBuffer':
        return ['buffer', base64(new Uint8Array(value)), value.resizable ? value.maxByteLength : null];
      case 'Blob': return file(value).then((bytes) => ['blob', bytes, value.type]);
      case 'File':
        return file(value).then((bytes) => ['file', bytes, value.type, value.name, value.lastModified]);
      case 'ImageData': return ['image', slot(value.data), value.width, value.height, value.colorSpace];
      case 'Error':
        return ['error', value.name, value.message, value.stack ?? null, ...('cause' in value ? [slot(value.cause)] : [])];
      default: throw new Unsupported(kind);
    }
  };
  const encode = async (root) => {
    const nodes = [], indexes = new Map(), open = [];
    const slot = (value) => {
      if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
      if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return value;
      if (!indexes.has(value)) {
        indexes.set(value, nodes.length);
        open.push([nodes.length, value]);
        nodes.push(null);
      }
      return [indexes.get(value)];
    };
    const start = slot(root);
    while (open.length) {
      const [at, value] = open.pop();
      const made = node(value, slot);
      nodes[at] = made instanceof Promise ? await made : made;
    }
    return [start, nodes];
  };

  const records = async (database, store, isInline) => {
    const pieces = [];
    for (let range = null; ;) {
      const source = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([source.getAllKeys(range, BATCH), source.getAll(range, BATCH)].map(done));
      for (const [at, key] of keys.entries()) {
        try {
          const record = [await encode(values[at])];
          if (!isInline) record.push(await encode(key));
          pieces.push(text(record));
        } catch (error) {
          if (!(error instanceof Unsupported)) throw error;
          lost.add(`${error.message} in ${database.name}/${store}`);
        }
      }
      if (keys.length < BATCH) return pieces;
      range = IDBKeyRange.lowerBound(keys.at(-1), true);
    }
  };
  // Returns the next key of the store's generator: adds a record to learn its key, and aborts the transaction.
  const next = (database, store) => new Promise((resolve) => {
    const transaction = database.transaction(store, 'readwrite');
    const request = transaction.objectStore(store).add({});
    let number = null;
    request.onsuccess = () => {
      number = request.result;
      transaction.abort();
    };
    request.onerror = (event) => event.preventDefault();
    transaction.onabort = transaction.oncomplete = () => resolve(number);
  });
  const readStore = async (database, name) => {
    const store = database.transaction(name).objectStore(name);
    const { keyPath, autoIncrement } = store;
    const indexes = [...store.indexNames].map((index) => {
      const { keyPath, unique, multiEntry } = store.index(index);
      return { name: index, keyPath, unique, multiEntry };
    });
    const pieces = await records(database, name, keyPath !== null);
    const number = autoIncrement ? await next(database, name) : null;
    const head = text({ name, keyPath, autoIncrement, next: number, indexes });
    return `${head.slice(0, -1)},"records":[${pieces.join(',')}]}`;
  };
  const readDatabase = async ({ name, version }) => {
    const database = await done(indexedDB.open(name));
    try {
      const stores = [];
      for (const store of database.objectStoreNames) stores.push(await readStore(database, store));
      return `{"name":${text(name)},"version":${text(version)},"stores":[${stores.join(',')}]}`;
    } finally {
      database.close();
    }
  };

  try {
    const pairs = (storage) => text(Object.keys(storage).map((key) => [key, storage.getItem(key)]));
    const [local, session, databases] = [pairs(localStorage), pairs(sessionStorage), []];
    for (const database of await indexedDB.databases()) {
      try {
        databases.push(await readDatabase(database));
      } catch (error) {
        if (error instanceof TooLarge) throw error;
        lost.add(`the database ${database.name} (${error.name})`);
      }
    }
    const isEmpty = local === '[]' && session === '[]' && !databases.length;
    const json = `{"local":${local},"session":${session},"databases":[${databases.join(',')}]}`;
    return { text: isEmpty ? null : json, lost: [...lost], large: false };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { text: null, lost: [...lost], large: true };
  }
})
