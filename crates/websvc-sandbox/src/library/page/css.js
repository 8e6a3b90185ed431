// CSS selectors that see through open shadow roots, with the pseudo-classes of Playwright.

const OWN_PSEUDO = /:(has-text|text|text-is|text-matches|visible|nth-match|right-of|left-of|above|below|near)\b/;

function queryCss(root, selector) {
  if (!OWN_PSEUDO.test(selector)) {
    const native = root.querySelectorAll(selector);
    if (!hasShadowRoots(root)) return [...native];
  }
  const list = parseCss(selector);
  return descendants(root).filter(element => list.some(complex => matchesComplex(element, complex, root)));
}

// Returns the selectors of a list, each an array of compounds with the combinator before it.
function parseCss(selector) {
  return splitCss(selector, ',').map(text => {
    const compounds = [];
    let combinator = '';
    for (const token of tokenizeComplex(text.trim())) {
      if (['>', '+', '~', ' '].includes(token)) combinator = token;
      else compounds.push({ combinator, ...parseCompound(token) });
    }
    return compounds;
  });
}

// Splits at a character outside of quotes and brackets.
function splitCss(text, separator) {
  const parts = [''];
  let depth = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\\') { parts[parts.length - 1] += c + (text[++i] || ''); continue; }
    if (quote) { if (c === quote) quote = ''; }
    else if (c === '"' || c === "'") quote = c;
    else if (c === '(' || c === '[') depth++;
    else if (c === ')' || c === ']') depth--;
    else if (c === separator && depth === 0) { parts.push(''); continue; }
    parts[parts.length - 1] += c;
  }
  return parts;
}

function tokenizeComplex(text) {
  const words = splitCss(text.replace(/\s+/g, ' '), ' ').flatMap(splitCombinators).filter(word => word);
  const tokens = [];
  for (const word of words) {
    const isCombinator = ['>', '+', '~'].includes(word);
    const last = tokens[tokens.length - 1];
    if (!isCombinator && last !== undefined && !['>', '+', '~'].includes(last)) tokens.push(' ');
    tokens.push(word);
  }
  return tokens;
}

function splitCombinators(word) {
  let result = [word];
  for (const combinator of ['>', '+', '~']) {
    result = result.flatMap(part => splitCss(part, combinator).flatMap((piece, i) => i ? [combinator, piece] : [piece]));
  }
  return result;
}

// Separates the pseudo-classes with texts, visibility and nested selectors from the part that the browser matches.
function parseCompound(text) {
  let native = '';
  const tests = [];
  const names = /^:(has-text|text-is|text-matches|text|visible|nth-match|is|not|has|where)(\(?)/;
  for (let i = 0; i < text.length;) {
    const found = text[i] === ':' && text[i - 1] !== '\\' ? names.exec(text.slice(i)) : null;
    if (!found) { native += text[i++]; continue; }
    let end = i + found[0].length;
    let argument = '';
    if (found[2]) {
      argument = splitCss(`${text.slice(end - 1)}\u0000`, '\u0000')[0];
      argument = argument.slice(1, closing(argument));
      end += argument.length + 1;
    }
    if (['is', 'not', 'has', 'where'].includes(found[1]) && !OWN_PSEUDO.test(argument)) native += text.slice(i, end);
    else tests.push({ name: found[1], argument: argument.trim() });
    i = end;
  }
  return { native, tests };
}

// Returns the position of the bracket that closes the first one.
function closing(text) {
  let depth = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (quote) { if (c === quote) quote = ''; }
    else if (c === '"' || c === "'") quote = c;
    else if (c === '(') depth++;
    else if (c === ')' && --depth === 0) return i;
  }
  return text.length;
}

function matchesComplex(element, compounds, scope, at = compounds.length - 1) {
  const compound = compounds[at];
  if (!compound || !matchesCompound(element, compound, scope)) return false;
  if (at === 0) return true;
  const rest = other => matchesComplex(other, compounds, scope, at - 1);
  switch (compound.combinator) {
    case '>': { const parent = parentOf(element); return !!parent && rest(parent); }
    case '+': { const other = element.previousElementSibling; return !!other && rest(other); }
    case '~':
      for (let other = element.previousElementSibling; other; other = other.previousElementSibling) {
        if (rest(other)) return true;
      }
      return false;
    default:
      for (let parent = parentOf(element); parent; parent = parentOf(parent)) if (rest(parent)) return true;
      return false;
  }
}

function matchesCompound(element, { native, tests }, scope) {
  if (native.includes(':scope')) {
    if (element !== scope) return false;
    native = native.replace(':scope', '') || '*';
  }
  return (!native || element.matches(native)) && tests.every(test => matchesPseudo(element, test, scope));
}

function matchesPseudo(element, { name, argument }, scope) {
  const isAny = () => parseCss(argument).some(complex => matchesComplex(element, complex, scope));
  switch (name) {
    case 'visible': return isVisible(element);
    case 'has-text': {
      if (skipsText(element)) return false;
      return textMatcher({ text: unquote(argument) })(elementText(new Map(), element));
    }
    case 'text': return matchText(new Map(), element, textMatcher({ text: unquote(argument) })) === 'self';
    case 'text-is':
      return matchText(new Map(), element, textMatcher({ text: unquote(argument), exact: true }, true)) !== 'none';
    case 'text-matches': {
      const [source, flags] = splitCss(argument, ',').map(unquote);
      return matchText(new Map(), element, textMatcher({ source, flags: flags || '' })) === 'self';
    }
    case 'is': case 'where': return isAny();
    case 'not': return !isAny();
    case 'has': return queryCss(element, argument).length > 0;
    case 'nth-match': {
      const parts = splitCss(argument, ',');
      const index = Number(parts.pop());
      return queryCss(document, parts.join(','))[index - 1] === element;
    }
    default: throw new Error(`Unknown pseudo-class :${name}`);
  }
}

function unquote(text) {
  text = text.trim();
  const quoted = /^(["'])([^]*)\1$/.exec(text);
  return quoted ? quoted[2].replace(/\\(.)/g, '$1') : text;
}
