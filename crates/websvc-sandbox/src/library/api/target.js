// The element that an operation works on: found by a selector, again in every attempt, until its time is over.

// Milliseconds between the attempts.
const RETRY_DELAYS = [0, 20, 50, 100, 100];
const LAST_RETRY_DELAY = 500;

class Target {
  // `root` is a handle of the element in which the selector is evaluated, or null for the document.
  constructor(frame, parts, root, description, strict = true) {
    Object.assign(this, { frame, parts, root, description, strict });
  }

  get page() { return this.frame._page; }
  get waitingLine() { return `waiting for ${this.description}`; }

  // Finds the frame of the selector and calls an asynchronous function in it. Returns null while a frame is missing.
  async inFrame(call) {
    const found = await this.frame._enter(this.parts, this.root);
    if (!found) return { missing: true };
    const world = await (this.root ? this.root._world : found.frame._world(true));
    return call(world, found.parts, found.frame);
  }

  // Runs an operation until it succeeds. `then` may reject the value with `{ retry }`.
  async run(operation, argument, options = {}, then = null) {
    const deadline = this.page._deadline(options);
    const log = [this.waitingLine];
    let resolved = false;
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) await sleep(Math.min(RETRY_DELAYS[attempt] ?? LAST_RETRY_DELAY, Math.max(1, deadline.left)));
      if (deadline.isOver) throw deadline.error(callLog(log));
      let found;
      try {
        const values = { ...argument, force: options.force || argument.force, attempt };
        found = await deadline.race(this.attempt(operation, values, then), () => callLog(log));
      } catch (error) {
        if (!isDestroyed(error) || (this.root && attempt > 3)) throw error;
        continue;
      }
      if (found.many) throw this.manyError(found);
      if (found.fatal) throw this.fatalError(found);
      if (found.missing && this.root && this.parts[0].by === 'self') {
        throw new Error('Element is not attached to the DOM');
      }
      if (found.retry) {
        if (!resolved) log.push(`locator resolved to ${found.preview}`);
        resolved = true;
        if (log.length < 12) log.push(found.retry);
        continue;
      }
      if (!found.missing) return found.value;
    }
  }

  attempt(operation, argument, then) {
    return this.inFrame(async (world, parts, frame) => {
      const root = this.root ? this.root._object.objectId : null;
      const found = await world.callLibrary('act', root, [parts, this.strict, operation, argument]);
      return then && 'value' in found ? then(found.value, frame) : found;
    });
  }

  manyError({ many, previews }) {
    const lines = previews.map((text, i) => `    ${i + 1}) ${text}`);
    if (many > previews.length) lines.push('    ...');
    return new Error(`Error: strict mode violation: ${this.description} resolved to ${many} elements:\n${
      lines.join('\n')}\n${callLog([this.waitingLine])}`);
  }

  fatalError({ fatal, syntax }) {
    if (syntax) return new Error(`SyntaxError: ${fatal}${callLog([this.waitingLine])}`);
    return new Error(`Error: ${fatal}${callLog([this.waitingLine])}`);
  }

  // Reads or changes something without input events.
  read(operation, argument = {}, options = {}) {
    return this.run(operation, argument, options);
  }

  async boundingBox(options) {
    let frame = this.frame;
    const box = await this.run('box', {}, options, async (value, found) => { frame = found; return { value }; });
    if (!box) return null;
    const { x, y } = await frame._offset();
    return { ...box, x: box.x + x, y: box.y + y };
  }

  // Moves the mouse to the element when it is ready, and calls `act` with the point.
  async pointer(options = {}, states, act) {
    const argument = { position: options.position, states };
    await this.run('point', argument, options, async (point, frame) => {
      const offset = await frame._offset();
      const at = { x: point.x + offset.x, y: point.y + offset.y };
      if (!options.trial) await act(at);
      return { value: null };
    });
  }

  async click(options = {}) {
    const { button = 'left', clickCount = 1, delay = 0, modifiers } = options;
    await this.pointer(options, ['visible', 'enabled', 'stable'], at => this.page._afterNavigation(async () => {
      await this.page.keyboard._withModifiers(modifiers, async () => {
        await this.page.mouse._move(at.x, at.y);
        await this.page.mouse._click({ button, clickCount, delay });
      });
    }, options));
  }

  async hover(options = {}) {
    await this.pointer(options, ['visible', 'stable'], at =>
      this.page.keyboard._withModifiers(options.modifiers, () => this.page.mouse._move(at.x, at.y)));
  }

  async fill(text, options = {}) {
    if (typeof text !== 'string') throw new Error(`value: expected string, got ${typeof text}`);
    const argument = { text, states: ['visible', 'enabled', 'editable'], follow: true };
    await this.run('fill', argument, options, async kind => {
      if (kind === 'type') {
        if (text) await this.page.keyboard._insertText(text);
        else await this.page.keyboard._press('Delete');
      }
      return { value: null };
    });
  }

  async type(text, options = {}) {
    await this.run('focus', { follow: true }, options);
    await this.page.keyboard._type(String(text), options.delay);
  }

  async press(key, options = {}) {
    await this.run('focus', { follow: true }, options);
    await this.page._afterNavigation(() => this.page.keyboard._press(key, options.delay), options);
  }

  async setChecked(checked, options = {}) {
    const deadline = this.page._deadline(options);
    const read = () => this.run('checked', { follow: true }, { ...options, timeout: deadline.left || 1 });
    if (await read() === checked) return;
    if (!checked && await this.run('isRadio', { follow: true }, options)) {
      throw new Error('Cannot uncheck radio button. Radio buttons can only be unchecked by selecting another '
        + 'radio button in the same group.');
    }
    await this.click({ ...options, timeout: deadline.left || 1 });
    if (!options.trial && await read() !== checked) {
      throw new Error('Clicking the checkbox did not change its state');
    }
  }

  async setInputFiles(files, options = {}) {
    await this.run('setFiles', { files: inputFiles(files), follow: true }, options);
  }

  async selectOption(values, options = {}) {
    const list = values === null || values === undefined ? [] : Array.isArray(values) ? values : [values];
    const wanted = list.map(value => typeof value === 'string' ? { valueOrLabel: value } : value);
    if (wanted.some(value => value instanceof JSHandle)) throw new Error('options: pass values, labels or indexes');
    return this.run('select', { wanted, states: ['visible', 'enabled'], follow: true }, options);
  }

  async screenshot(options = {}) {
    await this.run('scroll', { states: ['visible', 'stable'] }, options);
    const box = await this.boundingBox(options);
    if (!box) throw new Error('Node is either not visible or not an HTMLElement');
    const { x, y } = await this.page._scrollPosition();
    return this.page._capture({ ...options, clip: { ...box, x: box.x + x, y: box.y + y } });
  }
}

// Bytes of the files of one call together. A message of a program has 4 MiB.
const MAX_INPUT_FILES_BYTES = 2 * 1024 * 1024;

// Returns the files of a call for the page. A program has no files of its own, so that each has to bring its content.
function inputFiles(files) {
  const list = Array.isArray(files) ? files : [files];
  let bytes = 0;
  return list.map(file => {
    const { name, mimeType = 'application/octet-stream', buffer } = Object(file);
    if (typeof name !== 'string' || !(buffer instanceof Uint8Array)) {
      throw new Error('programs have no files: pass { name, mimeType, buffer }, with a Buffer');
    }
    bytes += buffer.length;
    if (bytes > MAX_INPUT_FILES_BYTES) throw new Error('the files have more than 2 MiB together');
    return { name, type: String(mimeType), content: encodeBase64(buffer) };
  });
}
