// Selectors as text, parsed into the parts that the page library runs.

const ENGINES = /^\s*(css|xpath|text|role|nth|visible|id|data-testid|data-test-id|data-test|internal:[a-z-]+)(?::light)?\s*=([^]*)$/;
let testIdAttribute = 'data-testid';

function parseSelector(selector) {
  if (typeof selector !== 'string') {
    throw new Error(`selector: expected string, got ${selector === null ? 'null' : typeof selector}`);
  }
  return splitSelector(selector, '>>').map(text => parsePart(text.trim(), selector));
}

// As `parseSelector`, but what is wrong with the selector is an error when it is used.
function parseLater(selector) {
  try {
    return parseSelector(selector);
  } catch (error) {
    return [{ by: 'invalid', message: error.message }];
  }
}

// Splits at a separator outside of quotes.
function splitSelector(text, separator) {
  const parts = [];
  let start = 0;
  let mark = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (mark) { if (c === mark) mark = ''; }
    else if (c === '"' || c === "'" || c === '`') mark = c;
    else if (text.startsWith(separator, i)) {
      parts.push(text.slice(start, i));
      i += separator.length - 1;
      start = i + 1;
    }
  }
  // An apostrophe in a text is no quote.
  if (mark && separator === '>>') return text.split(separator);
  parts.push(text.slice(start));
  return parts;
}

function parsePart(text, selector) {
  if (!text) throw new Error(`Unexpected end of selector while parsing selector "${selector}"`);
  const named = ENGINES.exec(text);
  if (named) return parseNamed(named[1], named[2].trim(), selector);
  if (/^\(*\/\//.test(text) || text.startsWith('..')) return { by: 'xpath', selector: text };
  if (/^(["'])[^]*\1$/.test(text)) return { by: 'text', text: parseText(text), pieces: true };
  const unknown = /^([a-zA-Z][\w-]*)=/.exec(text);
  if (unknown) throw new Error(`Unknown engine "${unknown[1]}" while parsing selector ${selector}`);
  return { by: 'css', selector: text };
}

function parseNamed(engine, body, selector) {
  switch (engine) {
    case 'css': return { by: 'css', selector: body };
    case 'xpath': return { by: 'xpath', selector: body };
    case 'text': return { by: 'text', text: parseText(body), pieces: true };
    case 'role': return parseRole(body, selector);
    case 'nth': {
      if (!/^-?\d+$/.test(body)) throw new Error(`Invalid index "${body}" while parsing selector ${selector}`);
      return { by: 'nth', index: Number(body) };
    }
    case 'visible': return { by: 'visible', visible: body === 'true' };
    case 'id': return { by: 'attribute', name: 'id', text: { text: body, exact: true } };
    case 'data-testid': case 'data-test-id': case 'data-test':
      return { by: 'attribute', name: engine, text: { text: body, exact: true } };
    default: throw new Error(`Engine "${engine}" is not supported while parsing selector ${selector}`);
  }
}

// Parses `text`, `"text"` (exact) and `/expression/flags`.
function parseText(text) {
  const regex = /^\/((?:[^\\]|\\.)*)\/([a-z]*)$/.exec(text);
  if (regex && text.length > 2) return { source: regex[1], flags: regex[2] };
  const quoted = /^(["'])([^]*)\1$/.exec(text);
  if (quoted) return { text: quoted[2].replace(/\\(.)/g, '$1'), exact: true };
  return { text, exact: false };
}

function parseRole(body, selector) {
  const head = /^\s*([\w-]+)\s*/.exec(body);
  if (!head) throw new Error(`Role must not be empty while parsing selector ${selector}`);
  const options = {};
  let rest = body.slice(head[0].length);
  const attribute = /^\[\s*([\w-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/(?:[^/\\]|\\.)*\/[a-z]*|[^\s\]]+)\s*([is])?\s*)?\]\s*/;
  while (rest) {
    const found = attribute.exec(rest);
    if (!found) throw new Error(`Unexpected symbol "${rest[0]}" while parsing selector ${selector}`);
    const [all, name, value, flag] = found;
    rest = rest.slice(all.length);
    if (name === 'name') {
      options.name = parseText(value);
      if (options.name.exact && flag === 'i') options.name.exact = false;
    } else if (name === 'level') options.level = Number(value);
    else if (name === 'include-hidden') options.includeHidden = value !== 'false';
    else if (['checked', 'disabled', 'expanded', 'pressed', 'selected'].includes(name)) {
      options[name] = value === 'mixed' ? 'mixed' : value !== 'false';
    } else throw new Error(`Unknown attribute "${name}", must be one of "checked", "disabled", "expanded", `
      + '"include-hidden", "level", "name", "pressed", "selected"');
  }
  return { by: 'role', role: head[1].toLowerCase(), options };
}

// Returns the matcher of a string or of a regular expression.
function textOf(text, exact = false) {
  if (text instanceof RegExp) return { source: text.source, flags: text.flags };
  if (typeof text !== 'string') throw new Error(`text: expected string, got ${typeof text}`);
  return { text, exact: !!exact };
}
