// The keyboard and the mouse of a page.

class Keyboard {
  constructor(page) {
    Object.defineProperties(this, {
      _page: { value: page }, _pressed: { value: new Set() }, _modifiers: { value: new Set() },
    });
  }

  get _bits() { return [...this._modifiers].reduce((bits, name) => bits | MODIFIER_BITS[name], 0); }
  _send(params) { return this._page._session.send('Input.dispatchKeyEvent', { ...params, modifiers: this._bits }); }

  _resolve(name) {
    const key = keyOf(name);
    const isShifted = this._modifiers.has('Shift') && key.shifted !== undefined && name !== key.shifted;
    return isShifted ? { ...key, key: key.shifted, text: key.shifted } : key;
  }

  async _down(name) {
    const { key, code, keyCode, text, location = 0 } = this._resolve(name);
    const autoRepeat = this._pressed.has(code);
    this._pressed.add(code);
    if (key in MODIFIER_BITS) this._modifiers.add(key);
    // A shortcut enters no text.
    const typed = [...this._modifiers].some(modifier => modifier !== 'Shift') ? '' : text;
    await this._send({
      type: typed ? 'keyDown' : 'rawKeyDown', key, code, windowsVirtualKeyCode: keyCode, text: typed,
      unmodifiedText: typed, autoRepeat, location, commands: shortcutCommands(this._modifiers, code),
    });
  }

  async _up(name) {
    const { key, code, keyCode, location = 0 } = this._resolve(name);
    if (key in MODIFIER_BITS) this._modifiers.delete(key);
    this._pressed.delete(code);
    await this._send({ type: 'keyUp', key, code, windowsVirtualKeyCode: keyCode, location });
  }

  async _press(combination, delay = 0) {
    const names = splitKeys(combination);
    names.forEach(keyOf);
    const last = names.pop();
    for (const name of names) await this._down(name);
    await this._down(last);
    if (delay) await sleep(delay);
    await this._up(last);
    for (const name of names.reverse()) await this._up(name);
  }

  async _type(text, delay = 0) {
    for (const char of text) {
      if (KEYS.has(char)) await this._press(char, delay);
      else {
        if (delay) await sleep(delay);
        await this._insertText(char);
      }
    }
  }

  _insertText(text) { return this._page._session.send('Input.insertText', { text }); }

  async _withModifiers(modifiers = [], call) {
    const names = modifiers.map(name => name === 'ControlOrMeta' ? 'Control' : name)
      .filter(name => !this._modifiers.has(name));
    for (const name of names) await this._down(name);
    await call();
    for (const name of names) await this._up(name);
  }

  async down(key) { await this._down(key); }
  async up(key) { await this._up(key); }
  async press(key, { delay } = {}) { await this._page._afterNavigation(() => this._press(key, delay)); }
  async type(text, { delay } = {}) { await this._type(String(text), delay); }
  async insertText(text) { await this._insertText(text); }
}

// Returns the keys of a combination such as `Control+a`. The key `+` itself is a plus sign at the end.
function splitKeys(combination) {
  if (typeof combination !== 'string') throw new Error(`key: expected string, got ${typeof combination}`);
  const keys = [];
  let current = '';
  for (const char of combination) {
    if (char === '+' && current) {
      keys.push(current);
      current = '';
    } else current += char;
  }
  keys.push(current);
  return keys;
}

// Editing commands, which the browser itself has for shortcuts on some systems only.
function shortcutCommands(modifiers, code) {
  if (!modifiers.has('Control') || modifiers.size > 1) return [];
  return { KeyA: ['selectAll'] }[code] || [];
}

const BUTTON_BITS = { left: 1, right: 2, middle: 4 };

class Mouse {
  constructor(page) {
    Object.defineProperties(this, {
      _page: { value: page }, _at: { value: { x: 0, y: 0 } }, _buttons: { value: new Set() },
    });
  }

  _send(type, params) {
    const buttons = [...this._buttons].reduce((bits, name) => bits | BUTTON_BITS[name], 0);
    return this._page._session.send('Input.dispatchMouseEvent', {
      type, x: this._at.x, y: this._at.y, buttons, modifiers: this._page.keyboard._bits, ...params,
    });
  }

  async _move(x, y, steps = 1) {
    const from = { ...this._at };
    for (let i = 1; i <= steps; i++) {
      this._at.x = from.x + (x - from.x) * (i / steps);
      this._at.y = from.y + (y - from.y) * (i / steps);
      await this._send('mouseMoved', { button: [...this._buttons].at(-1) || 'none' });
    }
  }

  async _down({ button = 'left', clickCount = 1 } = {}) {
    this._buttons.add(button);
    await this._send('mousePressed', { button, clickCount });
  }

  async _up({ button = 'left', clickCount = 1 } = {}) {
    this._buttons.delete(button);
    await this._send('mouseReleased', { button, clickCount });
  }

  async _click({ button = 'left', clickCount = 1, delay = 0 } = {}) {
    for (let i = 1; i <= clickCount; i++) {
      const pressed = this._down({ button, clickCount: i });
      if (delay) await sleep(delay);
      // A dialog that opens on the press answers it late.
      await Promise.all([pressed, this._up({ button, clickCount: i })]);
      if (delay && i < clickCount) await sleep(delay);
    }
  }

  async move(x, y, { steps } = {}) { await this._move(x, y, steps); }
  async down(options) { await this._down(options); }
  async up(options) { await this._up(options); }
  async click(x, y, options) {
    await this._page._afterNavigation(async () => {
      await this._move(x, y);
      await this._click(options);
    });
  }
  async dblclick(x, y, options = {}) { await this.click(x, y, { ...options, clickCount: 2 }); }
  async wheel(deltaX, deltaY) { await this._send('mouseWheel', { deltaX, deltaY }); }
}
