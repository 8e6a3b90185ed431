// Elements: parents across shadow roots, visibility, descriptions.

function parentOf(element) {
  if (element.parentElement) return element.parentElement;
  const parent = element.parentNode;
  return parent && parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE && parent.host ? parent.host : null;
}

// Returns all elements below `root` in document order, those in open shadow roots included.
function descendants(root, result = []) {
  if (root.shadowRoot) descendants(root.shadowRoot, result);
  for (let child = root.firstElementChild; child; child = child.nextElementSibling) {
    result.push(child);
    descendants(child, result);
  }
  return result;
}

function hasShadowRoots(root) {
  return descendants(root).some(element => element.shadowRoot) || !!root.shadowRoot;
}

function containsDeep(ancestor, element) {
  for (let current = element; current; current = parentOf(current)) {
    if (current === ancestor) return true;
  }
  return ancestor.nodeType === Node.DOCUMENT_NODE && ancestor.contains(element);
}

function normalizeSpace(text) {
  return text.replace(/[\u200b\u00ad]/g, '').trim().replace(/\s+/g, ' ');
}

function isStyleVisible(element) {
  if (!element.checkVisibility()) return false;
  return getComputedStyle(element).visibility === 'visible';
}

// An element is visible when it has a box that is not empty and is not hidden by its style.
function isVisible(element) {
  const style = getComputedStyle(element);
  if (style.display === 'contents') {
    for (const child of element.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE && isVisible(child)) return true;
      if (child.nodeType === Node.TEXT_NODE && isTextVisible(child)) return true;
    }
    return false;
  }
  if (!isStyleVisible(element)) return false;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

function isTextVisible(node) {
  const range = document.createRange();
  range.selectNode(node);
  const box = range.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

// Returns the control that a label stands for, else the element itself or the control around it.
function retarget(element, behavior) {
  if (element.nodeType !== Node.ELEMENT_NODE) element = element.parentElement;
  if (!element) return null;
  if (behavior === 'none') return element;
  if (!element.matches('input, textarea, select') && !element.isContentEditable) {
    const around = behavior === 'button-link' ? 'button, [role=button], a, [role=link]'
      : 'button, [role=button], [role=checkbox], [role=radio]';
    element = element.closest(around) || element;
  }
  if (behavior === 'follow-label'
    && !element.matches('a, input, textarea, button, select, [role=link], [role=button], [role=checkbox], [role=radio]')
    && !element.isContentEditable) {
    const label = element.closest('label');
    if (label && label.control) element = label.control;
  }
  return element;
}

const DISABLING = ['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'OPTION', 'OPTGROUP'];

function isDisabled(element) {
  if (DISABLING.includes(element.tagName) || element.tagName === 'FIELDSET') {
    if (element.hasAttribute('disabled')) return true;
    if (element.tagName === 'OPTION' && element.closest('optgroup[disabled]')) return true;
    const fieldset = element.closest('fieldset[disabled]');
    if (fieldset) {
      const legend = fieldset.querySelector(':scope > legend');
      if (!legend || !legend.contains(element)) return true;
    }
  }
  for (let current = element; current; current = parentOf(current)) {
    const value = current.getAttribute('aria-disabled');
    if (value === 'true') return true;
    if (value === 'false') return false;
  }
  return false;
}

const READONLY_ROLES = ['checkbox', 'combobox', 'grid', 'gridcell', 'listbox', 'radiogroup', 'slider', 'spinbutton',
  'textbox', 'columnheader', 'rowheader', 'searchbox', 'switch', 'treegrid'];

// Returns whether the element can only be read, or null for one that has no text to edit.
function isReadonly(element) {
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) return element.hasAttribute('readonly');
  if (READONLY_ROLES.includes(roleOf(element) || '')) return element.getAttribute('aria-readonly') === 'true';
  return element.isContentEditable ? false : null;
}

const CHECKED_ROLES = ['checkbox', 'menuitemcheckbox', 'option', 'radio', 'switch', 'menuitemradio', 'treeitem'];

// Returns whether a checkbox, radio button or similar is checked; null for another element.
function checkedState(element) {
  if (element.tagName === 'INPUT' && ['checkbox', 'radio'].includes(element.type)) return element.checked;
  if (!CHECKED_ROLES.includes(roleOf(element) || '')) return null;
  const value = element.getAttribute('aria-checked');
  return value === 'mixed' ? 'mixed' : value === 'true';
}

// Returns the tag of an element with its attributes and the beginning of its text, for messages.
function preview(element) {
  const attributes = [];
  for (const { name, value } of element.attributes) {
    if (name === 'style') continue;
    const isFlag = !value && ['checked', 'selected', 'disabled', 'readonly', 'multiple'].includes(name);
    attributes.push(isFlag ? ` ${name}` : ` ${name}="${value}"`);
  }
  attributes.sort((a, b) => a.length - b.length);
  let text = attributes.join('');
  if (text.length > 500) text = `${text.slice(0, 499)}…`;
  const tag = element.tagName.toLowerCase();
  const empty = ['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr'];
  if (empty.includes(tag)) return `<${tag}${text}/>`;
  let content = '';
  if (element.childElementCount > 0) {
    const onlyText = element.childNodes.length <= 5 && ![...element.childNodes].some(node => node.nodeType !== 3);
    content = onlyText ? element.textContent : '…';
  } else {
    content = normalizeSpace(element.textContent);
    if (content.length > 50) content = `${content.slice(0, 49)}…`;
  }
  return `<${tag}${text}>${content}</${tag}>`;
}
