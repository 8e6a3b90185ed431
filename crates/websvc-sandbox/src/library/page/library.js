// The functions that the library calls in a page.

class PageLibrary {
  preview(element) { return preview(element); }
  count(root, parts) { return queryParts(root || document, parts).length; }
  all(root, parts) { return queryParts(root || document, parts); }
  snapshot(root, parts, options) { return snapshotPage(options); }
  clearReferences() { clearReferences(); }

  // Returns the element for a handle. Throws what `act` reports.
  one(root, parts, strict) {
    const found = queryOne(root || document, parts, strict);
    if (found.many) throw new Error(`many:${JSON.stringify(found)}`);
    return found.element || null;
  }

  // Runs an operation on the one element of a selector. The result is `{ value }`, or says why to wait and try again:
  // `{ missing }`, `{ many }`, `{ retry }`; or `{ fatal }`.
  async act(root, parts, strict, operation, argument) {
    try {
      const found = queryOne(root || document, parts, strict);
      if (!found.element) return found;
      return await this.perform(found.element, operation, argument);
    } catch (error) {
      return { fatal: error.message, syntax: error instanceof SyntaxError || error.name === 'SyntaxError' };
    }
  }

  async perform(element, operation, argument) {
    const { states = [], force, follow } = argument;
    const target = follow ? retarget(element, 'follow-label') : element;
    const missing = force ? null : await missingState(target, states);
    if (missing === 'attached') return { missing: true };
    if (missing) return { retry: `element is not ${missing}`, preview: preview(element) };
    return OPERATIONS[operation](target, argument, element);
  }

  // Returns whether the selector is in a state: attached, detached, visible, hidden.
  waitState(root, parts, strict, state) {
    try {
      const found = queryOne(root || document, parts, strict);
      if (found.many) return found;
      const shown = found.element ? isVisible(found.element) : false;
      const reached = { attached: !!found.element, detached: !found.element, visible: shown, hidden: !shown }[state];
      return { reached, preview: found.element ? preview(found.element) : null };
    } catch (error) {
      return { fatal: error.message, syntax: error.name === 'SyntaxError' };
    }
  }

  texts(root, parts, kind) {
    return queryParts(root || document, parts).map(element => kind === 'inner' ? element.innerText : element.textContent);
  }
}

function checkable(element) {
  const state = checkedState(element);
  if (state === null) throw new Error('Not a checkbox or radio button');
  return state;
}

function boxOf(element) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return element.getClientRects().length ? { x, y, width, height } : null;
}

const OPERATIONS = {
  point: (element, argument, original) => {
    const found = pointOf(original, argument);
    return found.retry ? { ...found, preview: preview(original) } : { value: found.point };
  },
  box: element => ({ value: boxOf(element) }),
  innerBox: element => {
    const { x, y } = element.getBoundingClientRect();
    return { value: { x: x + element.clientLeft, y: y + element.clientTop } };
  },
  scroll: element => { element.scrollIntoViewIfNeeded(); return { value: null }; },
  focus: element => { focusElement(element); return { value: null }; },
  blur: element => { element.blur(); return { value: null }; },
  fill: (element, { text }) => ({ value: fillElement(element, text) }),
  selectText: element => { selectElementText(element); return { value: null }; },
  select: (element, { wanted }) => selectOptions(element, wanted),
  setFiles: (element, { files }) => { setFiles(element, files); return { value: null }; },
  checked: element => ({ value: checkable(element) }),
  isRadio: element => ({ value: element.type === 'radio' || roleOf(element) === 'radio' }),
  visible: element => ({ value: isVisible(element) }),
  enabled: element => ({ value: !isDisabled(element) }),
  editable: element => {
    const readonly = isReadonly(element);
    if (readonly === null) {
      throw new Error('Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role '
        + 'allowing [aria-readonly]');
    }
    return { value: !readonly && !isDisabled(element) };
  },
  attribute: (element, { name }) => ({ value: element.getAttribute(name) }),
  textContent: element => ({ value: element.textContent }),
  innerText: element => {
    if (!(element instanceof HTMLElement)) throw new Error('Node is not an HTMLElement');
    return { value: element.innerText };
  },
  innerHTML: element => ({ value: element.innerHTML }),
  inputValue: element => {
    if (!['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) {
      throw new Error('Node is not an <input>, <textarea> or <select> element');
    }
    return { value: element.value };
  },
  dispatch: (element, { type, init }) => {
    element.dispatchEvent(createEvent(type, { bubbles: true, cancelable: true, composed: true, ...init }));
    return { value: null };
  },
  styles: element => {
    const style = getComputedStyle(element);
    return { value: Object.fromEntries([...style].map(name => [name, style.getPropertyValue(name)])) };
  },
};

function createEvent(type, init) {
  const kinds = [[/^(click|dblclick|mouse|auxclick|contextmenu)/, MouseEvent], [/^key/, KeyboardEvent],
    [/^(focus|blur)/, FocusEvent], [/^pointer/, PointerEvent], [/^drag|^drop$/, DragEvent], [/^wheel$/, WheelEvent],
    [/^(input|beforeinput)$/, InputEvent]];
  const kind = kinds.find(([pattern]) => pattern.test(type));
  return new (kind ? kind[1] : Event)(type, init);
}
