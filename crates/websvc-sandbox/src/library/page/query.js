// Runs the parts of a selector one after another.

// Returns the elements of a selector, each once. A part is an object with the name of its engine in `by`.
function queryParts(root, parts) {
  let roots = [root];
  for (const part of parts) {
    roots = applyPart(roots, part, root);
  }
  return roots;
}

function applyPart(roots, part, scope) {
  switch (part.by) {
    case 'nth': return part.index < 0 ? roots.slice(part.index).slice(0, 1) : roots.slice(part.index, part.index + 1);
    case 'visible': return roots.filter(element => isVisible(element) === part.visible);
    case 'hasText': {
      const cache = new Map();
      const matches = textMatcher(part.text);
      return roots.filter(element => (!skipsText(element) && matches(elementText(cache, element))) !== part.not);
    }
    case 'has': return roots.filter(element => queryParts(element, part.parts).length > 0 !== part.not);
    case 'and': {
      const others = new Set(queryParts(scope, part.parts));
      return roots.filter(element => others.has(element));
    }
    case 'or': return inOrder(new Set([...roots, ...queryParts(scope, part.parts)]));
    default: {
      const found = new Set();
      for (const root of roots) {
        for (const element of queryEngine(root, part)) found.add(element);
      }
      return roots.length > 1 ? inOrder(found) : [...found];
    }
  }
}

function inOrder(elements) {
  return [...elements].sort((a, b) => a === b ? 0
    : a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
}

function queryEngine(root, part) {
  switch (part.by) {
    case 'css': return queryCss(root, part.selector);
    case 'xpath': return queryXpath(root, part.selector);
    case 'text': return queryText(root, part.text, part.pieces);
    case 'role': return queryRole(root, part.role, part.options);
    case 'label': {
      const matches = textMatcher(part.text);
      return descendants(root).filter(element => labelTexts(element).some(matches));
    }
    case 'attribute': {
      const matches = attributeMatcher(part);
      return queryCss(root, `[${part.name}]`).filter(element => matches(element.getAttribute(part.name)));
    }
    case 'ref': {
      const element = references.get(part.ref);
      return element && element.isConnected ? [element] : [];
    }
    case 'self': return [root];
    default: throw new Error(`Unknown engine "${part.by}"`);
  }
}

// Attributes are compared as they are, without regard to spaces.
function attributeMatcher({ text }) {
  if (text.source !== undefined) return stringMatcher(text);
  const lower = text.text.toLowerCase();
  return text.exact ? value => value === text.text : value => value.toLowerCase().includes(lower);
}

function queryXpath(root, selector) {
  const expression = selector.startsWith('/') && root.nodeType !== Node.DOCUMENT_NODE ? `.${selector}` : selector;
  const found = document.evaluate(expression, root, null, XPathResult.ORDERED_NODE_ITERATOR_TYPE);
  const result = [];
  for (let node = found.iterateNext(); node; node = found.iterateNext()) {
    if (node.nodeType === Node.ELEMENT_NODE) result.push(node);
  }
  return result;
}

// Returns the one element of a selector: `{ element }`, `{ missing }`, or `{ many }` with descriptions.
function queryOne(root, parts, strict) {
  const found = queryParts(root, parts);
  if (!found.length) return { missing: true };
  if (strict && found.length > 1) {
    return { many: found.length, previews: found.slice(0, 10).map(preview) };
  }
  return { element: found[0] };
}
