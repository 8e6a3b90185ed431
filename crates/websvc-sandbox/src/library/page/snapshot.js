// The outline of a page by roles and names, with references to the elements that can be used.

const references = new Map();

function clearReferences() { references.clear(); }

const INTERACTIVE = ['button', 'link', 'textbox', 'checkbox', 'radio', 'combobox', 'listbox', 'menuitem',
  'menuitemcheckbox', 'menuitemradio', 'option', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'treeitem'];
const WITH_REFERENCE = [...INTERACTIVE, 'heading', 'cell', 'gridcell', 'columnheader', 'rowheader', 'listitem',
  'article', 'region', 'main', 'navigation'];

// Returns the lines of this document; its frames, each with its reference, its place in the lines and its level; and the
// number of the next reference. `first` is the number of the first reference.
function snapshotPage({ interactive, compact, depth, parts, max, first }) {
  references.clear();
  const options = { interactive, compact, depth: depth ?? Infinity, max, lines: [], frames: [], next: first };
  const root = parts ? queryParts(document, parts)[0] : document.body;
  if (root) visitForSnapshot(root, 0, options);
  return { lines: options.lines, frames: options.frames, next: options.next };
}

// Adds a reference to an element and returns it.
function addReference(element, options) {
  const ref = `e${options.next++}`;
  references.set(ref, element);
  return ref;
}

function visitFrameForSnapshot(element, level, options) {
  if (level > options.depth) return;
  const ref = addReference(element, options);
  const name = accessibleName(element);
  if (!options.interactive) {
    options.lines.push(`${'  '.repeat(level)}- iframe${name ? ` ${JSON.stringify(name)}` : ''} [ref=${ref}]`);
  }
  options.frames.push({ ref, at: options.lines.length, level: level + 1 });
}

function visitForSnapshot(element, level, options) {
  if (options.lines.length >= options.max || isHiddenForAria(element)) return;
  if (element.tagName === 'IFRAME' || element.tagName === 'FRAME') return visitFrameForSnapshot(element, level, options);
  const role = roleOf(element);
  const isUsed = role && role !== 'presentation' && role !== 'none';
  const isClickable = !isUsed && (element.isContentEditable && !element.parentElement?.isContentEditable);
  const line = isUsed || isClickable ? snapshotLine(element, isUsed ? role : 'textbox', options) : null;
  let inner = level;
  if (line !== null && level <= options.depth) {
    options.lines.push(`${options.interactive ? '' : '  '.repeat(level)}- ${line}`);
    inner = level + 1;
  }
  // The name of these has the texts of their content.
  const isLeaf = ['button', 'link', 'option', 'heading', 'tab', 'menuitem'].includes(role)
    && !element.querySelector('a, button, input, select, textarea, [role]');
  if (isLeaf || element.tagName === 'TEXTAREA') return;
  const nodes = element.shadowRoot ? element.shadowRoot.childNodes : element.childNodes;
  for (const node of nodes) {
    if (node.nodeType === Node.ELEMENT_NODE) visitForSnapshot(node, inner, options);
    else if (node.nodeType === Node.TEXT_NODE && !options.interactive && !snapshotText(element, role)) {
      const text = normalizeSpace(node.nodeValue);
      if (text && inner <= options.depth) options.lines.push(`${'  '.repeat(inner)}- text: ${text}`);
    }
  }
}

// Returns the text of an element that has nothing but text, which its own line shows.
function snapshotText(element, role) {
  if (!role || element.childElementCount > 0 || ['link', 'button', 'heading'].includes(role)) return '';
  return normalizeSpace(element.textContent);
}

function snapshotLine(element, role, options) {
  if (options.interactive && !INTERACTIVE.includes(role)) return null;
  const name = accessibleName(element);
  const text = snapshotText(element, role);
  if (options.compact && !name && !text && !INTERACTIVE.includes(role)) return null;
  let line = role;
  if (name) line += ` ${JSON.stringify(name)}`;
  if (WITH_REFERENCE.includes(role) && (INTERACTIVE.includes(role) || name)) {
    line += ` [ref=${addReference(element, options)}]`;
  }
  if (role === 'heading') line += ` [level=${headingLevel(element)}]`;
  const checked = checkedState(element);
  if (checked !== null && role !== 'option') line += checked ? ' [checked]' : '';
  if (isDisabled(element)) line += ' [disabled]';
  if (expandedState(element) !== undefined) line += expandedState(element) ? ' [expanded]' : ' [collapsed]';
  if (role === 'option' && element.selected) line += ' [selected]';
  const value = ['textbox', 'searchbox', 'spinbutton'].includes(role) ? element.value : '';
  if (value && element.type !== 'password') return `${line}: ${value}`;
  return text && text !== name ? `${line}: ${text}` : line;
}
