// Values as text, as `console.log` of Node prints them.

const MAX_DEPTH = 2;
const MAX_ITEMS = 100;
const LINE_WIDTH = 80;
// Levels of nested objects that one line may have.
const MAX_LEVELS = 3;

// The level of the object that was printed last.
let lastLevel = 0;

function quote(text) {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes('`') ? '`' : "'";
  const escaped = text.replace(/[\\\n\r\t\b\f\v\0-\x1f\x7f]/g, c => ({
    '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f', '\v': '\\v',
  })[c] || `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  return mark + (mark === "'" ? escaped.replace(/'/g, "\\'") : escaped) + mark;
}

function inspectPrimitive(value) {
  switch (typeof value) {
    case 'string': return quote(value);
    case 'number': return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint': return `${value}n`;
    default: return String(value);
  }
}

function classNameOf(value) {
  for (let proto = value; proto; proto = Object.getPrototypeOf(proto)) {
    const found = Object.getOwnPropertyDescriptor(proto, 'constructor');
    if (found && typeof found.value === 'function' && found.value.name) return found.value.name;
  }
  return null;
}

function inspect(value, depth = 0, seen = [], indent = 0) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return inspectPrimitive(value);
  if (seen.includes(value)) return '[Circular *1]';
  const own = ownText.get(value);
  if (own) return own();
  const inner = item => inspect(item, depth + 1, [...seen, value], indent + 2);
  const name = classNameOf(value);
  if (value instanceof Error) return inspectError(value, inner);
  if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise { <pending> }';
  if (typeof value === 'function') return inspectFunction(value, name);
  if (value instanceof Buffer) return inspectBuffer(value);
  if (typeof value.toInspectedText === 'function') return value.toInspectedText();
  if (depth > MAX_DEPTH) return Array.isArray(value) ? '[Array]' : `[${name || 'Object: null prototype'}]`;
  return inspectObject(value, name, inner, depth, indent);
}

// Objects of the library print a text instead of their fields.
const ownText = {
  get(value) { return typeof value._inspect === 'function' ? () => value._inspect() : null; },
};

function inspectFunction(value, name) {
  const isClass = Function.prototype.toString.call(value).startsWith('class');
  if (isClass) return `[class ${value.name || '(anonymous)'}]`;
  return value.name ? `[${name || 'Function'}: ${value.name}]` : `[${name || 'Function'} (anonymous)]`;
}

function inspectError(error, inner) {
  const text = stackOf(error);
  const extra = Object.keys(error).filter(key => !['stack', 'message', 'name'].includes(key) && !key.startsWith('_'));
  if (!extra.length) return text.includes('\n') ? text : `[${text}]`;
  return `${text} {\n${extra.map(key => `  ${key}: ${inner(error[key])}`).join(',\n')}\n}`;
}

function inspectBuffer(buffer) {
  const bytes = [...buffer.subarray(0, 50)].map(byte => byte.toString(16).padStart(2, '0')).join(' ');
  const more = buffer.length > 50 ? ` ... ${buffer.length - 50} more bytes` : '';
  return bytes ? `<Buffer ${bytes}${more}>` : '<Buffer >';
}

function inspectKey(key) {
  if (typeof key === 'symbol') return `[${String(key)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
}

function inspectObject(value, name, inner, level, indent) {
  lastLevel = level;
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  let prefix = '';
  if (isList && name !== 'Array') prefix = `${name}(${value.length}) `;
  else if (value instanceof Map || value instanceof Set) prefix = `${name}(${value.size}) `;
  else if (!isList && name !== 'Object') prefix = name === null ? '[Object: null prototype] ' : `${name} `;
  const items = [];
  if (isList) collectItems(value, items, inner);
  else if (value instanceof Map) for (const [key, item] of value) items.push(`${inner(key)} => ${inner(item)}`);
  else if (value instanceof Set) for (const item of value) items.push(inner(item));
  for (const key of Reflect.ownKeys(value)) {
    if (isList && typeof key === 'string' && /^\d+$|^length$/.test(key)) continue;
    const found = Object.getOwnPropertyDescriptor(value, key);
    if (!found || !found.enumerable) continue;
    const text = found.get ? (found.set ? '[Getter/Setter]' : '[Getter]') : inner(found.value);
    items.push(`${inspectKey(key)}: ${text}`);
  }
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const mark = level === 0 && items.some(item => item.includes('[Circular *1]')) ? '<ref *1> ' : '';
  if (!items.length) return `${mark}${prefix}${open}${close}`;
  return mark + joinItems(items, prefix + open, close, { isList, indent, levels: lastLevel - level });
}

function collectItems(list, items, inner) {
  const max = Math.min(list.length, MAX_ITEMS);
  for (let i = 0; i < max; i++) {
    if (i in list) { items.push(inner(list[i])); continue; }
    const start = i;
    while (i + 1 < max && !(i + 1 in list)) i++;
    const count = i - start + 1;
    items.push(`<${count} empty item${count > 1 ? 's' : ''}>`);
  }
  if (list.length > max) items.push(`... ${list.length - max} more item${list.length - max > 1 ? 's' : ''}`);
}

// One line when the items are short, else a line per item; long lists of short items in columns.
function joinItems(items, open, close, { isList, indent, levels }) {
  const rows = isList && items.length > 6 ? groupItems(items, indent) : items;
  if (rows === items && levels < MAX_LEVELS) {
    const start = items.length + indent + open.length + 10;
    const length = items.reduce((sum, item) => sum + item.length, start + items.length);
    if (length <= LINE_WIDTH && !items.some(item => item.includes('\n'))) return `${open} ${items.join(', ')} ${close}`;
  }
  const pad = ' '.repeat(indent);
  return `${open}\n${pad}  ${rows.join(`,\n${pad}  `)}\n${pad}${close}`;
}

function groupItems(items, indent) {
  const rest = items[items.length - 1].startsWith('... ') ? 1 : 0;
  const count = items.length - rest;
  const lengths = items.slice(0, count).map(item => item.length + 2);
  const longest = Math.max(...lengths);
  if (longest * 3 + indent >= 80) return items;
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total / longest <= 5 && longest > 8) return items;
  const bias = Math.sqrt(longest - total / items.length);
  const biased = Math.max(longest - 3 - bias, 1);
  const columns = Math.min(Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((LINE_WIDTH - indent) / longest), MAX_LEVELS * 4, 15);
  if (columns <= 1) return items;
  const widths = [];
  for (let i = 0; i < columns; i++) {
    let width = 0;
    for (let j = i; j < count; j += columns) width = Math.max(width, lengths[j]);
    widths.push(width);
  }
  const isNumeric = items.slice(0, count).every(item => /^-?[\d.e+]+n?$/.test(item));
  const rows = [];
  for (let i = 0; i < count; i += columns) {
    const max = Math.min(i + columns, count);
    const cells = [];
    for (let j = i; j < max; j++) {
      const text = j < max - 1 ? `${items[j]}, ` : items[j];
      const width = j < max - 1 ? widths[j - i] : widths[j - i] - 2;
      cells.push(isNumeric ? text.padStart(width) : j < max - 1 ? text.padEnd(width) : text);
    }
    rows.push(cells.join(''));
  }
  if (rest) rows.push(items[count]);
  return rows;
}

// Returns the name, the message and the calls of an error. The calls inside of the library say nothing to its callers.
function stackOf(error) {
  const head = errorHead(error);
  const calls = String(error.stack || '').split('\n')
    .filter(line => /^\s*at /.test(line) && !line.includes('library.js') && !line.includes('(native)'));
  return [head, ...calls].join('\n');
}

function errorHead(error) {
  const name = error.name === undefined ? 'Error' : String(error.name);
  const message = String(error.message ?? '');
  return message ? `${name}: ${message}` : name;
}
