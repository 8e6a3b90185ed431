// Frames of a page: their worlds, queries, and waiting for their states.

const LOAD_STATES = { load: 'load', domcontentloaded: 'DOMContentLoaded', networkidle: 'networkIdle', commit: 'commit' };

// The name of the world of the page library in each frame.
const UTILITY_WORLD = 'websvc';

// Documents of a frame that are remembered by their ids.
const MAX_COMMITTED = 100;

function loadEvent(state = 'load') {
  if (!Object.hasOwn(LOAD_STATES, state)) {
    throw new Error(`waitUntil: expected one of (load|domcontentloaded|networkidle|commit)`);
  }
  return LOAD_STATES[state];
}

class Frame {
  constructor(page, session, parent, payload) {
    Object.defineProperties(this, {
      _page: { value: page }, _parent: { value: parent }, _id: { value: payload.id },
      _session: { value: session, writable: true }, _url: { value: '', writable: true },
      _label: { value: '', writable: true }, _loaderId: { value: '', writable: true },
      _events: { value: new Set(), writable: true },
      _nextEvents: { value: new Map() }, _navigations: { value: 0, writable: true },
      _committed: { value: new Set() }, _utility: { value: null, writable: true },
      _main: { value: null, writable: true }, _isDetached: { value: false, writable: true },
    });
    this._update(payload);
  }

  _update({ url, urlFragment = '', name, loaderId }) {
    this._url = url + urlFragment;
    this._label = name || '';
    this._loaderId = loaderId;
    this._committed.add(loaderId);
    if (this._committed.size > MAX_COMMITTED) this._committed.delete(this._committed.values().next().value);
  }

  page() { return this._page; }
  url() { return this._url; }
  name() { return this._label; }
  parentFrame() { return this._parent; }
  childFrames() { return [...this._page._frames.values()].filter(frame => frame._parent === this); }
  isDetached() { return this._isDetached; }
  frameLocator(selector) { return this.locator(selector).contentFrame(); }
  _inspect() { return `Frame { url: ${quote(this._url)} }`; }

  // Worlds

  async _world(isUtility) {
    if (!isUtility) {
      await this._page._until(() => this._main, new Deadline(this._page._timeout()));
      return this._main;
    }
    if (!this._utility) {
      const created = this._session.send('Page.createIsolatedWorld', { frameId: this._id, worldName: UTILITY_WORLD })
        .then(({ executionContextId }) => new World(this, executionContextId, true));
      this._utility = created;
      created.catch(() => { if (this._utility === created) this._utility = null; });
    }
    return this._utility;
  }

  _forget(world) {
    if (world === this._main) this._main = null;
    else this._utility = null;
  }

  // Follows the frames in a selector. Returns the last one with the rest of the selector, or null while one is missing.
  async _enter(parts, root) {
    const invalid = parts.find(part => part.by === 'invalid');
    if (invalid) throw new Error(invalid.message);
    const at = parts.findIndex(part => part.by === 'frame');
    if (at < 0) return { frame: this, parts };
    const world = await (root ? root._world : this._world(true));
    const owner = await world.callLibrary('one', root ? root._object.objectId : null, [parts.slice(0, at), true], false);
    if (!owner.objectId) return null;
    const frame = await this._contentFrame(owner.objectId);
    return frame ? frame._enter(parts.slice(at + 1), null) : null;
  }

  async _contentFrame(objectId) {
    const { node } = await this._session.send('DOM.describeNode', { objectId });
    return this._page._frames.get(node.frameId) || null;
  }

  // Returns where the frame begins in the viewport of the page.
  async _offset() {
    if (!this._parent) return { x: 0, y: 0 };
    const parent = this._parent;
    const { backendNodeId } = await parent._session.send('DOM.getFrameOwner', { frameId: this._id });
    const world = await parent._world(true);
    const { object } = await parent._session.send('DOM.resolveNode', { backendNodeId, executionContextId: world.id });
    const { value } = await world.callLibrary('act', object.objectId, [[{ by: 'self' }], true, 'innerBox', {}]);
    const outer = await parent._offset();
    return { x: value.x + outer.x, y: value.y + outer.y };
  }

  // Queries

  async _library(parts, root, method, rest) {
    return retryDestroyed(async () => {
      const found = await this._enter(parts, root);
      if (!found) return null;
      const world = await (root ? root._world : found.frame._world(true));
      return world.callLibrary(method, root ? root._object.objectId : null, [found.parts, ...rest]);
    });
  }

  async _countNow(parts) { return await this._library(parts, null, 'count', []) ?? 0; }
  async _textsNow(parts, kind) { return await this._library(parts, null, 'texts', [kind]) ?? []; }

  async _isVisibleNow(target) {
    const found = await this._library(target.parts, target.root, 'waitState', [target.strict, 'visible']);
    if (!found) return false;
    if (found.many) throw target.manyError(found);
    if (found.fatal) throw target.fatalError(found);
    return found.reached;
  }

  // Returns a handle of the first element in the main world, or null.
  async _queryHandle(parts, root, strict = false) {
    const found = await this._enter(parts, root);
    if (!found) return null;
    const world = await (root ? root._world : found.frame._world(false));
    const remote = await world.callLibrary('one', root ? root._object.objectId : null, [found.parts, strict], false);
    return remote.objectId ? makeHandle(world, remote) : null;
  }

  async _queryHandles(parts, root) {
    const list = await this._queryList(parts, root);
    if (!list) return [];
    const properties = await list.getProperties();
    list.dispose();
    return [...properties.values()].filter(handle => handle instanceof ElementHandle);
  }

  async _queryList(parts, root) {
    const found = await this._enter(parts, root);
    if (!found) return null;
    const world = await (root ? root._world : found.frame._world(false));
    const remote = await world.callLibrary('all', root ? root._object.objectId : null, [found.parts], false);
    return makeHandle(world, remote);
  }

  async _waitForHandle(target, options) {
    await this._waitForState(target.parts, target.description, { ...options, state: 'attached' }, target.root);
    try {
      const handle = await this._queryHandle(target.parts, target.root, target.strict);
      return handle || this._waitForHandle(target, options);
    } catch (error) {
      throw error instanceof ManyError ? target.manyError(error.found) : error;
    }
  }

  async _evalOne(selector, body, argument, root) {
    const parts = parseSelector(selector);
    const handle = await this._queryHandle(parts, root);
    if (!handle) throw new Error(`Failed to find element matching selector ${JSON.stringify(selector)}`);
    return handle._evaluate(body, argument, false).finally(() => handle.dispose());
  }

  async _evalAll(parts, body, argument, root) {
    const list = await this._queryList(parts, root);
    if (!list) return (await this._world(false)).evaluate(`value => (${functionSource(body)})([], value)`, argument, false, true);
    return list._evaluate(body, argument, false).finally(() => list.dispose());
  }

  async _waitForState(parts, description, options = {}, root, strict = true) {
    const { state = 'visible' } = options;
    if (!['attached', 'detached', 'visible', 'hidden'].includes(state)) {
      throw new Error('state: expected one of (attached|detached|visible|hidden)');
    }
    const target = new Target(this, parts, root, description, strict);
    const deadline = this._page._deadline(options);
    const to = { attached: '', detached: ' to be detached', visible: ' to be visible', hidden: ' to be hidden' }[state];
    const log = () => callLog([`${target.waitingLine}${to}`]);
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) await sleep(Math.min(RETRY_DELAYS[attempt] ?? LAST_RETRY_DELAY / 5, Math.max(1, deadline.left)));
      const found = await deadline.race(this._library(parts, root, 'waitState', [strict, state]), log);
      if (!found) {
        if (state === 'detached' || state === 'hidden') return;
      } else {
        if (found.many) throw target.manyError(found);
        if (found.fatal) throw target.fatalError(found);
        if (found.reached) return;
      }
      if (deadline.isOver) throw deadline.error(log());
    }
  }

  async _waitForSelector(parts, description, options = {}, root = null) {
    await this._waitForState(parts, description, options, root, !!options.strict);
    if (options.state === 'hidden' || options.state === 'detached') return null;
    return this._queryHandle(parts, root);
  }

  // Waits until the event of a document has happened.
  async _waitForEvent(event, deadline) {
    if (event === 'commit') return;
    await this._page._until(() => this._events.has(event), deadline);
  }
}

// Repeats a query when a navigation destroys its context.
async function retryDestroyed(call) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isDestroyed(error) || attempt > 20) throw error;
      await sleep(20);
    }
  }
}

addLocatorMethods(Frame, (frame, parts, description) => new Locator(frame, parts, description));
