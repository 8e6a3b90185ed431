// Actions on an element: the checks before them, and those that need no input events.

function nextFrame() {
  // A page in the background draws no frames.
  return new Promise(resolve => {
    const timer = setTimeout(resolve, 100);
    requestAnimationFrame(() => { clearTimeout(timer); resolve(); });
  });
}

async function isStable(element) {
  let last = null;
  for (let i = 0; i < 4; i++) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const box = `${x} ${y} ${width} ${height}`;
    if (box === last) return true;
    last = box;
    await nextFrame();
  }
  return false;
}

// Returns the first state in which the element is not, or null.
async function missingState(element, states) {
  for (const state of states) {
    if (!element.isConnected) return 'attached';
    switch (state) {
      case 'visible': if (!isVisible(element)) return 'visible'; break;
      case 'enabled': if (isDisabled(element)) return 'enabled'; break;
      case 'stable': if (!(await isStable(element))) return 'stable'; break;
      case 'editable': {
        const readonly = isReadonly(element);
        if (readonly === null) {
          throw new Error('Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a '
            + 'role allowing [aria-readonly]');
        }
        if (isDisabled(element)) return 'enabled';
        if (readonly) return 'editable';
        break;
      }
      default: throw new Error(`Unknown state ${state}`);
    }
  }
  return null;
}

// Returns the element at a point, and whether events there reach the wanted element.
function hitTarget(element, x, y) {
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit) return { ok: false, text: 'nothing' };
  const target = retarget(element, 'button-link');
  for (let current = hit; current; current = current.assignedSlot || parentOf(current)) {
    if (current === element || current === target) return { ok: true };
  }
  const label = hit.closest('label');
  if (label && label.control === element) return { ok: true };
  let root = hit;
  for (let current = hit; current && !containsDeep(current, element); current = parentOf(current)) root = current;
  const subtree = root === hit ? '' : ` from ${preview(root)} subtree`;
  return { ok: false, text: `${preview(hit)}${subtree}` };
}

function isInViewport(box) {
  return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
}

// Scrolls to the element and returns the point for the mouse, or the reason why there is none.
function pointOf(element, { position, force, attempt }) {
  let box = element.getBoundingClientRect();
  const offset = position || { x: box.width / 2, y: box.height / 2 };
  const inView = () => {
    const [x, y] = [box.x + offset.x, box.y + offset.y];
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  };
  // Another alignment in each attempt, because something fixed may cover the element in one of them.
  const blocks = ['nearest', 'end', 'center', 'start'];
  // What a frame shows may be outside of the viewports around it, which scroll, too.
  if (!inView() || attempt > 0 || window !== top) {
    if (attempt === 0 && element.scrollIntoViewIfNeeded) element.scrollIntoViewIfNeeded();
    else element.scrollIntoView({ block: blocks[attempt % 4], inline: blocks[attempt % 4], behavior: 'instant' });
    box = element.getBoundingClientRect();
  }
  if (!position) {
    // The first line of a link that is broken into several.
    const rects = [...element.getClientRects()].filter(rect => rect.width * rect.height > 0.99);
    if (!rects.length) return { retry: 'element is not visible' };
    const rect = rects.length > 1 ? rects[0] : box;
    const clip = (start, end, max) => (Math.max(start, 0) + Math.min(end, max)) / 2;
    offset.x = clip(rect.left, rect.right, innerWidth) - box.x;
    offset.y = clip(rect.top, rect.bottom, innerHeight) - box.y;
  }
  const [x, y] = [box.x + offset.x, box.y + offset.y];
  if (!inView() || !isInViewport(box)) return { retry: 'element is outside of the viewport' };
  const hit = force ? { ok: true } : hitTarget(element, x, y);
  return hit.ok ? { point: { x, y } } : { retry: `${hit.text} intercepts pointer events` };
}

function focusElement(element) {
  const root = element.getRootNode();
  if (root.activeElement !== element && root.activeElement && root.activeElement.blur) root.activeElement.blur();
  element.focus();
  // A frame in which nothing has the focus yet needs it twice.
  element.focus();
}

function emitInput(element) {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}

const TYPED_INPUTS = ['', 'email', 'number', 'password', 'search', 'tel', 'text', 'url'];
const SET_INPUTS = ['color', 'date', 'time', 'datetime-local', 'month', 'range', 'week'];

// Prepares the element for the input of a text, or sets its value. Returns 'type' if the text has to be typed.
function fillElement(element, value) {
  if (element.tagName === 'INPUT') {
    const type = element.type.toLowerCase();
    if (!TYPED_INPUTS.includes(type) && !SET_INPUTS.includes(type)) {
      throw new Error(`Input of type "${type}" cannot be filled`);
    }
    if (type === 'number' && value.trim() && isNaN(Number(value.trim()))) {
      throw new Error('Cannot type text into input[type=number]');
    }
    if (SET_INPUTS.includes(type)) {
      const text = type === 'color' ? value.trim().toLowerCase() : value.trim();
      element.focus();
      element.value = text;
      if (element.value !== text) throw new Error('Malformed value');
      emitInput(element);
      return 'done';
    }
  } else if (element.tagName !== 'TEXTAREA' && !element.isContentEditable) {
    throw new Error('Element is not an <input>, <textarea> or [contenteditable] element');
  }
  selectElementText(element);
  return 'type';
}

function selectElementText(element) {
  if (element.tagName === 'INPUT' || element.tagName === 'TEXTAREA') {
    element.select();
    element.focus();
    return;
  }
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  element.focus();
}

// Selects the options. Returns the selected values, or null if an option does not exist yet.
function selectOptions(element, wanted) {
  if (element.tagName !== 'SELECT') throw new Error('Element is not a <select> element');
  const options = [...element.options];
  const chosen = [];
  for (const [index, option] of options.entries()) {
    const at = wanted.findIndex(want => (want.valueOrLabel === undefined
        || want.valueOrLabel === option.value || normalizeSpace(want.valueOrLabel) === normalizeSpace(option.label))
      && (want.value === undefined || want.value === option.value)
      && (want.label === undefined || normalizeSpace(want.label) === normalizeSpace(option.label))
      && (want.index === undefined || want.index === index));
    if (at < 0) continue;
    if (isDisabled(option)) return { retry: 'option being selected is not enabled' };
    chosen.push(option);
    if (!element.multiple) { wanted = []; break; }
    wanted = wanted.filter((_, i) => i !== at);
  }
  if (wanted.length) return { retry: 'did not find some options' };
  for (const option of options) option.selected = chosen.includes(option);
  emitInput(element);
  return { value: chosen.map(option => option.value) };
}

// Puts files into a field for files. The content of each is in base64.
function setFiles(element, files) {
  if (element.tagName !== 'INPUT' || element.type !== 'file') throw new Error('Node is not an <input type="file"> element');
  if (files.length > 1 && !element.multiple) throw new Error('Non-multiple file input can only accept single file');
  const transfer = new DataTransfer();
  for (const { name, type, content } of files) {
    transfer.items.add(new File([Uint8Array.from(atob(content), char => char.charCodeAt(0))], name, { type }));
  }
  element.files = transfer.files;
  emitInput(element);
}
