// Locators: selectors that are evaluated when something is done with them.

class Locator {
  constructor(frame, parts, description) {
    Object.defineProperties(this, {
      _frame: { value: frame }, _parts: { value: parts }, _description: { value: description },
    });
  }

  get _target() { return new Target(this._frame, this._parts, null, this._description); }
  _with(parts, text) { return new Locator(this._frame, [...this._parts, ...parts], this._description + text); }

  page() { return this._frame._page; }
  first() { return this._with([{ by: 'nth', index: 0 }], '.first()'); }
  last() { return this._with([{ by: 'nth', index: -1 }], '.last()'); }
  nth(index) { return this._with([{ by: 'nth', index }], `.nth(${index})`); }
  filter(options) {
    const { parts, description } = filterParts(options);
    return this._with(parts, description);
  }
  and(other) { return this._with([{ by: 'and', parts: innerParts(other) }], `.and(${other._description})`); }
  or(other) { return this._with([{ by: 'or', parts: innerParts(other) }], `.or(${other._description})`); }
  describe() { return this; }
  frameLocator(selector) { return this.locator(selector).contentFrame(); }
  contentFrame() { return new FrameLocator(this); }

  async count() { return this._frame._countNow(this._parts); }
  async all() {
    const count = await this._frame._countNow(this._parts);
    return Array.from({ length: count }, (_, i) => this.nth(i));
  }
  async allTextContents() { return this._frame._textsNow(this._parts, 'content'); }
  async allInnerTexts() { return this._frame._textsNow(this._parts, 'inner'); }

  async click(options) { return this._target.click(options); }
  async dblclick(options) { return this._target.click({ ...options, clickCount: 2 }); }
  async hover(options) { return this._target.hover(options); }
  async fill(text, options) { return this._target.fill(text, options); }
  async clear(options) { return this._target.fill('', options); }
  async type(text, options) { return this._target.type(text, options); }
  async pressSequentially(text, options) { return this._target.type(text, options); }
  async press(key, options) { return this._target.press(key, options); }
  async check(options) { return this._target.setChecked(true, options); }
  async uncheck(options) { return this._target.setChecked(false, options); }
  async setChecked(checked, options) { return this._target.setChecked(checked, options); }
  async selectOption(values, options) { return this._target.selectOption(values, options); }
  async setInputFiles(files, options) { return this._target.setInputFiles(files, options); }
  async selectText(options) { return this._target.read('selectText', { states: ['visible'] }, options); }
  async focus(options) { await this._target.read('focus', {}, options); }
  async blur(options) { await this._target.read('blur', {}, options); }
  async dragTo(other, options = {}) {
    await this._target.hover({ ...options, position: options.sourcePosition });
    await this._frame._page.mouse._down();
    await other._target.hover({ ...options, position: options.targetPosition, force: true });
    await this._frame._page.mouse._up();
  }

  async textContent(options) { return this._target.read('textContent', {}, options); }
  async innerText(options) { return this._target.read('innerText', {}, options); }
  async innerHTML(options) { return this._target.read('innerHTML', {}, options); }
  async inputValue(options) { return this._target.read('inputValue', { follow: true }, options); }
  async getAttribute(name, options) { return this._target.read('attribute', { name }, options); }
  async isVisible() { return this._frame._isVisibleNow(this._target); }
  async isHidden() { return !await this._frame._isVisibleNow(this._target); }
  async isEnabled(options) { return this._target.read('enabled', {}, options); }
  async isDisabled(options) { return !await this._target.read('enabled', {}, options); }
  async isEditable(options) { return this._target.read('editable', {}, options); }
  async isChecked(options) { return this._target.read('checked', { follow: true }, options); }
  async boundingBox(options) { return this._target.boundingBox(options); }
  async screenshot(options) { return this._target.screenshot(options); }
  async scrollIntoViewIfNeeded(options) { await this._target.read('scroll', { states: ['stable'] }, options); }
  async dispatchEvent(type, init = {}, options = {}) { await this._target.read('dispatch', { type, init }, options); }

  async waitFor(options = {}) {
    await this._frame._waitForState(this._parts, this._description, options, null);
  }
  async evaluate(body, argument, options) {
    const handle = await this._handle(options);
    return handle.evaluate(body, argument).finally(() => handle.dispose());
  }
  async evaluateHandle(body, argument, options) {
    const handle = await this._handle(options);
    return handle.evaluateHandle(body, argument);
  }
  async evaluateAll(body, argument) { return this._frame._evalAll(this._parts, body, argument, null); }
  async elementHandle(options) { return this._handle(options); }
  async elementHandles() { return this._frame._queryHandles(this._parts, null); }
  _handle(options) { return this._frame._waitForHandle(this._target, options); }

  toString() { return this._description; }
  _inspect() { return `Locator@${this._description}`; }
}

addLocatorMethods(Locator, (locator, parts, description) => locator._with(parts, `.${description}`));

// A frame as a place for locators.
class FrameLocator {
  constructor(owner) {
    Object.defineProperties(this, { _owner: { value: owner } });
  }

  owner() { return this._owner; }
  first() { return new FrameLocator(this._owner.first()); }
  last() { return new FrameLocator(this._owner.last()); }
  nth(index) { return new FrameLocator(this._owner.nth(index)); }
  frameLocator(selector) { return this.locator(selector).contentFrame(); }
  _inspect() { return `FrameLocator@${this._owner._description}`; }
}

addLocatorMethods(FrameLocator, (frame, parts, description) =>
  frame._owner._with([{ by: 'frame' }, ...parts], `.contentFrame().${description}`));
