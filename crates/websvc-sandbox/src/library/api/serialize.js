// Arguments and results of functions that run in pages. `packValue` and `unpackValue` run on both sides, by their text.

function packValue(value, handles) {
  const seen = new Map();
  const pack = item => {
    if (item === undefined) return { v: 'undefined' };
    if (item === null) return { v: 'null' };
    if (typeof item === 'number') {
      if (Number.isNaN(item) || item === Infinity || item === -Infinity || Object.is(item, -0)) {
        return { v: Object.is(item, -0) ? '-0' : String(item) };
      }
      return item;
    }
    if (typeof item === 'string' || typeof item === 'boolean') return item;
    if (typeof item === 'bigint') return { bi: String(item) };
    if (typeof item === 'symbol') return { v: 'undefined' };
    if (handles) {
      const at = handles(item);
      if (at >= 0) return { h: at };
    }
    if (typeof item === 'function') {
      if (handles) throw new Error(`Attempting to serialize unexpected value: ${item}`);
      return { v: 'undefined' };
    }
    return packObject(item);
  };
  const packObject = item => {
    const tag = Object.prototype.toString.call(item);
    if (tag === '[object Date]') return { d: item.toJSON() };
    if (tag === '[object RegExp]') return { r: { p: item.source, f: item.flags } };
    if (tag === '[object Error]') return { e: { n: item.name, m: item.message, s: item.stack || '' } };
    if (typeof globalThis.URL === 'function' && item instanceof globalThis.URL) return { u: item.href };
    if (typeof globalThis.Node === 'function' && item instanceof globalThis.Node) return 'ref: <Node>';
    if (typeof globalThis.window === 'object' && item === globalThis.window) return 'ref: <Window>';
    if (seen.has(item)) return { ref: seen.get(item) };
    const id = seen.size + 1;
    seen.set(item, id);
    if (Array.isArray(item)) return { a: item.map(pack), id };
    const own = Object.keys(item);
    if (!own.length && typeof item.toJSON === 'function') return { o: [], id, j: pack(item.toJSON()) };
    return { o: own.map(key => ({ k: key, v: pack(item[key]) })), id };
  };
  return pack(value);
}

function unpackValue(value, handles) {
  const seen = new Map();
  const unpack = item => {
    if (typeof item !== 'object' || item === null) return item;
    if ('ref' in item) return seen.get(item.ref);
    if ('v' in item) {
      return { 'undefined': undefined, 'null': null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 }[item.v];
    }
    if ('d' in item) return new Date(item.d);
    if ('bi' in item) return BigInt(item.bi);
    if ('r' in item) return new RegExp(item.r.p, item.r.f);
    if ('u' in item) return new URL(item.u);
    if ('e' in item) {
      const error = new Error(item.e.m);
      error.name = item.e.n;
      error.stack = item.e.s;
      return error;
    }
    if ('h' in item) return handles[item.h];
    if ('j' in item) return unpack(item.j);
    if ('a' in item) {
      const list = [];
      seen.set(item.id, list);
      for (const part of item.a) list.push(unpack(part));
      return list;
    }
    const result = {};
    seen.set(item.id, result);
    for (const { k, v } of item.o) {
      Object.defineProperty(result, k, { value: unpack(v), enumerable: true, configurable: true, writable: true });
    }
    return result;
  };
  return unpack(value);
}

// The texts of both, for the pages.
const PACK_SOURCE = String(packValue);
const UNPACK_SOURCE = String(unpackValue);

// Returns the text of a function as an expression. A method such as `{ run() {} }` needs the word `function`.
function functionSource(method) {
  const text = Function.prototype.toString.call(method);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) throw new Error('Passed function cannot be serialized!');
  const parses = source => {
    try { return !!new Function(`(${source})`); } catch { return false; }
  };
  if (parses(text)) return text;
  const asFunction = text.startsWith('async ') ? `async function ${text.slice(6)}` : `function ${text}`;
  if (parses(asFunction)) return asFunction;
  throw new Error('Passed function is not well-serializable!');
}
