// ARIA roles of elements: the attribute, else the role that HTML gives to the tag.

const TAG_ROLES = {
  ARTICLE: 'article', ASIDE: 'complementary', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CAPTION: 'caption',
  CODE: 'code', DATALIST: 'listbox', DD: 'definition', DEL: 'deletion', DETAILS: 'group', DFN: 'term', DIALOG: 'dialog',
  DT: 'term', EM: 'emphasis', FIELDSET: 'group', FIGURE: 'figure', H1: 'heading', H2: 'heading', H3: 'heading',
  H4: 'heading', H5: 'heading', H6: 'heading', HR: 'separator', HTML: 'document', INS: 'insertion', LI: 'listitem',
  MAIN: 'main', MARK: 'mark', MATH: 'math', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list',
  OPTGROUP: 'group', OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', SEARCH: 'search',
  STRONG: 'strong', SUB: 'subscript', SUP: 'superscript', SVG: 'img', TABLE: 'table', TBODY: 'rowgroup',
  TEXTAREA: 'textbox', TFOOT: 'rowgroup', THEAD: 'rowgroup', TIME: 'time', TR: 'row', UL: 'list',
};

const INPUT_ROLES = {
  button: 'button', checkbox: 'checkbox', image: 'button', number: 'spinbutton', radio: 'radio', range: 'slider',
  reset: 'button', submit: 'button', file: 'button',
};

const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=complementary], [role=main], '
  + '[role=navigation], [role=region]';

function hasExplicitName(element) {
  return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby');
}

function implicitRole(element) {
  switch (element.tagName.toUpperCase()) {
    case 'A': case 'AREA': return element.hasAttribute('href') ? 'link' : null;
    case 'FOOTER': return element.parentElement && element.parentElement.closest(SECTIONING) ? null : 'contentinfo';
    case 'HEADER': return element.parentElement && element.parentElement.closest(SECTIONING) ? null : 'banner';
    case 'FORM': return hasExplicitName(element) ? 'form' : null;
    case 'SECTION': return hasExplicitName(element) ? 'region' : null;
    case 'IMG': {
      const hasEmptyAlt = element.getAttribute('alt') === '' && !element.title && !hasExplicitName(element);
      return hasEmptyAlt ? 'presentation' : 'img';
    }
    case 'INPUT': return inputRole(element);
    case 'SELECT': return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'SUMMARY': return null;
    case 'TD': {
      const table = element.closest('table');
      const role = table ? table.getAttribute('role') : '';
      return role === 'grid' || role === 'treegrid' ? 'gridcell' : 'cell';
    }
    case 'TH': {
      if (element.getAttribute('scope') === 'col') return 'columnheader';
      if (element.getAttribute('scope') === 'row') return 'rowheader';
      const row = element.closest('tr');
      return row && row.cells.length > 1 && [...row.cells].some(cell => cell.tagName === 'TD') ? 'rowheader'
        : 'columnheader';
    }
    default: return TAG_ROLES[element.tagName.toUpperCase()] || null;
  }
}

function inputRole(element) {
  const type = element.type.toLowerCase();
  if (type === 'search') return element.hasAttribute('list') ? 'combobox' : 'searchbox';
  if (['email', 'tel', 'text', 'url', ''].includes(type)) {
    const list = element.getAttribute('list');
    return list && document.getElementById(list) ? 'combobox' : 'textbox';
  }
  if (type === 'hidden') return null;
  return INPUT_ROLES[type] || 'textbox';
}

function roleOf(element) {
  const explicit = (element.getAttribute('role') || '').split(' ').map(role => role.trim()).find(role => role);
  if (!explicit) return implicitRole(element);
  const isFocusable = element.tabIndex >= 0 || hasExplicitName(element);
  if (['none', 'presentation'].includes(explicit) && isFocusable) return implicitRole(element);
  return explicit;
}

// Returns whether assistive technology does not see the element.
function isHiddenForAria(element) {
  if (['STYLE', 'SCRIPT', 'NOSCRIPT', 'TEMPLATE'].includes(element.tagName)) return true;
  const style = getComputedStyle(element);
  if (style.display === 'contents' && element.nodeName !== 'SLOT') {
    const shows = [...element.childNodes].some(node =>
      node.nodeType === Node.ELEMENT_NODE ? !isHiddenForAria(node) : node.nodeType === 3 && isTextVisible(node));
    if (!shows) return true;
  } else if (!(element.nodeName === 'OPTION' && element.closest('select')) && !isStyleVisible(element)) {
    return true;
  }
  for (let current = element; current; current = parentOf(current)) {
    if (current.getAttribute('aria-hidden') === 'true') return true;
  }
  return false;
}

function headingLevel(element) {
  const level = element.getAttribute('aria-level');
  if (level) return Number(level);
  const tag = /^H([1-6])$/.exec(element.tagName);
  return tag ? Number(tag[1]) : 0;
}

function ariaFlag(element, name) {
  const value = element.getAttribute(name);
  return value === 'true' ? true : value === 'false' ? false : undefined;
}

function expandedState(element) {
  if (element.tagName === 'DETAILS') return element.open;
  return ariaFlag(element, 'aria-expanded');
}

function selectedState(element) {
  if (element.tagName === 'OPTION') return element.selected;
  return element.getAttribute('aria-selected') === 'true';
}

function pressedState(element) {
  const value = element.getAttribute('aria-pressed');
  return value === 'mixed' ? 'mixed' : value === 'true';
}

// Returns the elements with a role. `options` has the states and the matcher of the name, as far as they are given.
function queryRole(root, role, options) {
  const matchesName = options.name ? stringMatcher(options.name) : null;
  return descendants(root).filter(element => {
    if (roleOf(element) !== role) return false;
    if (options.level !== undefined && headingLevel(element) !== options.level) return false;
    if (options.checked !== undefined && checkedState(element) !== options.checked) return false;
    if (options.disabled !== undefined && isDisabled(element) !== options.disabled) return false;
    if (options.expanded !== undefined && expandedState(element) !== options.expanded) return false;
    if (options.pressed !== undefined && pressedState(element) !== options.pressed) return false;
    if (options.selected !== undefined && selectedState(element) !== options.selected) return false;
    if (!options.includeHidden && isHiddenForAria(element)) return false;
    return !matchesName || matchesName(accessibleName(element));
  });
}
