// Handles of values and elements in a page.

class JSHandle extends Emitter {
  constructor(world, remote) {
    super();
    Object.defineProperties(this, {
      _world: { value: world }, _object: { value: remote }, _isDisposed: { value: false, writable: true },
    });
  }

  _remote() {
    const { objectId, unserializableValue, value } = this._object;
    return objectId ? { objectId } : unserializableValue !== undefined ? { unserializableValue } : { value };
  }

  asElement() { return null; }
  evaluate(body, argument) { return this._evaluate(body, argument, false); }
  evaluateHandle(body, argument) { return this._evaluate(body, argument, true); }

  _evaluate(body, argument, asHandle) {
    // The function gets this value first, so both are packed together.
    const source = typeof body === 'function' ? functionSource(body) : String(body);
    const text = `([value, argument]) => (${source})(value, argument)`;
    return this._world.evaluate(text, [this, argument], asHandle, true);
  }

  async jsonValue() {
    return unpackValue(await this._world._packRemote(this._object));
  }

  async getProperties() {
    const { result } = await this._world.session.send('Runtime.getProperties', {
      objectId: this._object.objectId, ownProperties: true,
    });
    return new Map(result.filter(item => item.enumerable && item.value)
      .map(item => [item.name, makeHandle(this._world, item.value)]));
  }

  async getProperty(name) {
    return this._evaluate((value, key) => value[key], name, true);
  }

  async dispose() {
    if (this._isDisposed || !this._object.objectId) return;
    this._isDisposed = true;
    await this._world.session.send('Runtime.releaseObject', { objectId: this._object.objectId }).catch(ignore);
  }

  toString() { return `JSHandle@${this._object.description || this._object.type}`; }
  _inspect() { return this.toString(); }
}

class ElementHandle extends JSHandle {
  get _target() { return new Target(this._world.frame, [{ by: 'self' }], this, 'element'); }

  asElement() { return this; }
  async $(selector) { return this._world.frame._queryHandle([...parseSelector(selector)], this); }
  async $$(selector) { return this._world.frame._queryHandles([...parseSelector(selector)], this); }
  async $eval(selector, body, argument) { return this._world.frame._evalOne(selector, body, argument, this); }
  async $$eval(selector, body, argument) { return this._world.frame._evalAll(parseSelector(selector), body, argument, this); }
  async click(options) { return this._target.click(options); }
  async dblclick(options) { return this._target.click({ ...options, clickCount: 2 }); }
  async hover(options) { return this._target.hover(options); }
  async fill(text, options) { return this._target.fill(text, options); }
  async type(text, options) { return this._target.type(text, options); }
  async press(key, options) { return this._target.press(key, options); }
  async check(options) { return this._target.setChecked(true, options); }
  async uncheck(options) { return this._target.setChecked(false, options); }
  async setChecked(checked, options) { return this._target.setChecked(checked, options); }
  async selectOption(values, options) { return this._target.selectOption(values, options); }
  async setInputFiles(files, options) { return this._target.setInputFiles(files, options); }
  async selectText(options) { return this._target.read('selectText', { states: ['visible'] }, options); }
  async focus() { return this._target.read('focus'); }
  async textContent() { return this._target.read('textContent'); }
  async innerText() { return this._target.read('innerText'); }
  async innerHTML() { return this._target.read('innerHTML'); }
  async inputValue(options) { return this._target.read('inputValue', { follow: true }, options); }
  async getAttribute(name) { return this._target.read('attribute', { name }); }
  async isVisible() { return this._target.read('visible'); }
  async isHidden() { return !await this._target.read('visible'); }
  async isEnabled() { return this._target.read('enabled'); }
  async isDisabled() { return !await this._target.read('enabled'); }
  async isEditable() { return this._target.read('editable'); }
  async isChecked() { return this._target.read('checked', { follow: true }); }
  async boundingBox() { return this._target.boundingBox(); }
  async screenshot(options) { return this._target.screenshot(options); }
  async scrollIntoViewIfNeeded(options) { return this._target.read('scroll', { states: ['stable'] }, options); }
  async dispatchEvent(type, init = {}) { return this._target.read('dispatch', { type, init }); }
  async ownerFrame() { return this._world.frame; }
  async contentFrame() { return this._world.frame._contentFrame(this._object.objectId); }
  async waitForSelector(selector, options) {
    return this._world.frame._waitForSelector(parseSelector(selector), `locator(${quote(selector)})`, options, this);
  }
  async waitForElementState(state, options = {}) {
    const states = { visible: ['visible'], stable: ['visible', 'stable'], enabled: ['enabled'],
      editable: ['enabled', 'editable'] }[state];
    if (states) { await this._target.read('visible', { states }, options); return; }
    const wanted = { hidden: 'isHidden', disabled: 'isDisabled' }[state];
    if (!wanted) throw new Error(`state: expected one of (visible|hidden|stable|enabled|disabled|editable)`);
    await pollUntil(() => this[wanted](), this._world.frame._page._deadline(options));
  }
}

function makeHandle(world, remote) {
  return remote.subtype === 'node' ? new ElementHandle(world, remote) : new JSHandle(world, remote);
}

// Waits until a function returns something true.
async function pollUntil(condition, deadline) {
  for (;;) {
    const value = await deadline.race(Promise.resolve(condition()));
    if (value) return value;
    if (deadline.isOver) throw deadline.error();
    await sleep(Math.min(50, deadline.left));
  }
}
