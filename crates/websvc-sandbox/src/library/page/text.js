// Texts of elements, and the matchers of texts.

const NO_TEXT = ['SCRIPT', 'NOSCRIPT', 'STYLE'];

function skipsText(element) {
  return NO_TEXT.includes(element.nodeName) || (document.head && document.head.contains(element));
}

// Returns the text of an element or shadow root, and the pieces of it that belong to no child.
function elementText(cache, root) {
  let value = cache.get(root);
  if (value) return value;
  value = { full: '', normalized: '', immediate: [] };
  if (!skipsText(root)) {
    if (root.tagName === 'INPUT' && ['submit', 'button'].includes(root.type)) {
      value = { full: root.value, normalized: normalizeSpace(root.value), immediate: [root.value] };
    } else {
      collectText(cache, root, value);
    }
  }
  cache.set(root, value);
  return value;
}

function collectText(cache, root, value) {
  let current = '';
  for (let child = root.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.TEXT_NODE) {
      value.full += child.nodeValue || '';
      current += child.nodeValue || '';
    } else if (child.nodeType !== Node.COMMENT_NODE) {
      if (current) value.immediate.push(current);
      current = '';
      if (child.nodeType === Node.ELEMENT_NODE) value.full += elementText(cache, child).full;
    }
  }
  if (current) value.immediate.push(current);
  if (root.shadowRoot) value.full += elementText(cache, root.shadowRoot).full;
  value.normalized = normalizeSpace(value.full);
}

// Returns a function that tests a plain string. A matcher is `{ text, exact }` or `{ source, flags }`.
function stringMatcher(matcher) {
  if (matcher.source !== undefined) {
    const regex = new RegExp(matcher.source, matcher.flags);
    return text => { regex.lastIndex = 0; return regex.test(text); };
  }
  const wanted = normalizeSpace(matcher.text);
  if (matcher.exact) return text => normalizeSpace(text) === wanted;
  const lower = wanted.toLowerCase();
  return text => normalizeSpace(text).toLowerCase().includes(lower);
}

// Returns a function that tests the text of an element. `pieces` compares an exact text with the pieces that belong to
// no child, as the selector `text="…"` does.
function textMatcher(matcher, pieces) {
  const test = stringMatcher(matcher);
  if (matcher.source !== undefined) return text => test(text.full);
  if (matcher.exact && pieces) return text => text.immediate.some(test);
  return text => test(text.normalized);
}

// Returns 'none', 'self', or 'children' when a child matches too.
function matchText(cache, element, matches) {
  if (skipsText(element) || !matches(elementText(cache, element))) return 'none';
  for (let child = element.firstElementChild; child; child = child.nextElementSibling) {
    if (matches(elementText(cache, child))) return 'children';
  }
  return element.shadowRoot && matches(elementText(cache, element.shadowRoot)) ? 'children' : 'self';
}

// Returns the smallest elements with a text.
function queryText(root, matcher, pieces) {
  const cache = new Map();
  const matches = textMatcher(matcher, pieces);
  const result = [];
  const elements = descendants(root);
  if (root.nodeType === Node.ELEMENT_NODE) elements.unshift(root);
  let outside = null;
  for (const element of elements) {
    // No part of an element without the text has it, except with an expression such as /^…$/.
    if (matcher.source === undefined && !matcher.exact && outside && outside.contains(element)) continue;
    const match = matchText(cache, element, matches);
    if (match === 'none') outside = element;
    if (match === 'self' || (match === 'children' && matcher.exact && pieces)) result.push(element);
  }
  return result;
}
