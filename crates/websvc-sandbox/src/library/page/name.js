// Accessible names of elements, by the rules of the specification "Accessible Name and Description Computation".

const NAME_FROM_CONTENT = ['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem',
  'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'tooltip', 'treeitem'];

const NO_NAME = ['caption', 'code', 'definition', 'deletion', 'emphasis', 'generic', 'insertion', 'mark', 'paragraph',
  'presentation', 'none', 'strong', 'subscript', 'suggestion', 'superscript', 'term', 'time'];

function accessibleName(element) {
  if (NO_NAME.includes(roleOf(element) || '')) return '';
  return normalizeSpace(nameOf(element, { seen: new Set(), isReference: false, isNested: false }));
}

function referenced(element, attribute) {
  const ids = (element.getAttribute(attribute) || '').split(/\s+/).filter(id => id);
  const root = element.getRootNode();
  return ids.map(id => root.getElementById ? root.getElementById(id) : null).filter(other => other);
}

function nameOf(element, context) {
  if (context.seen.has(element)) return '';
  context.seen.add(element);
  if (!context.isReference && isHiddenForAria(element)) return '';
  const nested = { ...context, isReference: false, isNested: true };
  if (!context.isReference || !context.isNested) {
    const labels = context.isReference ? [] : referenced(element, 'aria-labelledby');
    const name = labels
      .map(other => nameOf(other, { seen: new Set(), isReference: true, isNested: true })).join(' ');
    if (normalizeSpace(name)) return name;
  }
  const role = roleOf(element) || '';
  if (context.isNested) {
    const value = embeddedValue(element, role);
    if (value !== null) return value;
  }
  const label = element.getAttribute('aria-label') || '';
  if (label.trim()) return label;
  const native = nativeName(element, nested);
  if (native !== null) return native;
  if (NAME_FROM_CONTENT.includes(role) || context.isNested || context.isReference) {
    const content = contentName(element, nested);
    if (normalizeSpace(content)) return content;
  }
  return element.getAttribute('title') || '';
}

// Returns the value of a control inside of the name of another element.
function embeddedValue(element, role) {
  if (role === 'textbox' || role === 'searchbox') {
    return ['INPUT', 'TEXTAREA'].includes(element.tagName) ? element.value : element.textContent;
  }
  if (role === 'combobox' && element.tagName === 'SELECT') {
    return [...element.selectedOptions].map(option => option.textContent).join(' ');
  }
  if (['slider', 'spinbutton', 'progressbar', 'meter'].includes(role)) {
    return element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow')
      || (element.value === undefined ? '' : String(element.value));
  }
  return null;
}

// Returns the name that HTML gives to the element, or null without one.
function nativeName(element, nested) {
  const tag = element.tagName;
  const title = element.getAttribute('title') || '';
  if (tag === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type)) {
    const defaults = { submit: 'Submit', reset: 'Reset', button: '' };
    return element.value.trim() ? element.value : title || defaults[element.type];
  }
  if (['INPUT', 'SELECT', 'TEXTAREA', 'METER', 'OUTPUT', 'PROGRESS', 'BUTTON'].includes(tag)) {
    const labels = nested.isNested && nested.seen.size > 1 ? [] : [...(element.labels || [])];
    if (labels.length) {
      const name = labels.map(label => nameOf(label, { ...nested, isReference: true })).join(' ');
      if (normalizeSpace(name)) return name;
    }
    if (tag === 'BUTTON') return null;
    if (tag === 'INPUT' && element.type === 'image') return element.alt || title || 'Submit';
    if (tag === 'INPUT' && element.type === 'file') return 'Choose File';
    return title || element.getAttribute('placeholder') || '';
  }
  if (tag === 'FIELDSET' || tag === 'FIGURE' || tag === 'TABLE') {
    const titles = { FIELDSET: 'legend', FIGURE: 'figcaption', TABLE: 'caption' };
    const child = [...element.children].find(other => other.tagName.toLowerCase() === titles[tag]);
    return child ? nameOf(child, { ...nested, isReference: true }) : null;
  }
  if (tag === 'IMG' || tag === 'AREA') return element.getAttribute('alt') || title;
  if (tag.toLowerCase() === 'svg') {
    const child = [...element.children].find(other => other.tagName.toLowerCase() === 'title');
    return child ? child.textContent : null;
  }
  return null;
}

function contentName(element, nested) {
  const parts = [];
  const nodes = element.nodeName === 'SLOT' && element.assignedNodes().length ? element.assignedNodes()
    : [...(element.shadowRoot ? element.shadowRoot.childNodes : element.childNodes)];
  const pseudo = which => {
    const content = getComputedStyle(element, which).content;
    const text = /^"([^]*)"$/.exec(content);
    return text ? text[1].replace(/\\(.)/g, '$1') : '';
  };
  parts.push(pseudo('::before'));
  for (const node of nodes) {
    if (node.nodeType === Node.TEXT_NODE) { parts.push(node.nodeValue); continue; }
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    const isInline = getComputedStyle(node).display.startsWith('inline') && node.nodeName !== 'BR';
    const text = nameOf(node, nested);
    parts.push(isInline ? text : ` ${text} `);
  }
  parts.push(pseudo('::after'));
  return parts.join('');
}

// Returns the texts of the labels of an element.
function labelTexts(element) {
  const cache = new Map();
  const labelledBy = referenced(element, 'aria-labelledby');
  if (labelledBy.length) return labelledBy.map(label => elementText(cache, label));
  const label = element.getAttribute('aria-label');
  if (label !== null && label.trim()) {
    return [{ full: label, normalized: normalizeSpace(label), immediate: [label] }];
  }
  const isControl = ['BUTTON', 'METER', 'OUTPUT', 'PROGRESS', 'SELECT', 'TEXTAREA'].includes(element.tagName)
    || (element.tagName === 'INPUT' && element.type !== 'hidden');
  return isControl ? [...(element.labels || [])].map(other => elementText(cache, other)) : [];
}
