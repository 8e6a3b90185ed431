// The events of the browser that change the state of a page.

// Starts the domains of a session of a page, and follows its events. Frames of other sites have sessions of their own.
async function startSession(page, session, rootParent) {
  watchFrames(page, session);
  watchWorlds(page, session);
  watchNetwork(page, session);
  session.on('Page.javascriptDialogOpening', event => {
    const dialog = new Dialog(page, event);
    if (page.emit('dialog', dialog) || page._context.emit('dialog', dialog)) return;
    dialog._handle(event.type === 'beforeunload').catch(ignore);
  });
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type !== 'iframe') return;
    const frame = page._frames.get(targetInfo.targetId);
    if (!frame) return;
    frame._session = new Session(sessionId);
    frame._utility = frame._main = null;
    startSession(page, frame._session, frame._parent).catch(ignore);
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => sessions.get(sessionId)?.close());
  const optional = [
    ['Network.enable'], ['Page.setLifecycleEventsEnabled', { enabled: true }],
    ['Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }],
    ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }],
  ];
  // A dialog that a killed program has left open would block the page.
  session.send('Page.handleJavaScriptDialog', { accept: false }).catch(ignore);
  const tree = session.send('Page.enable').then(() => session.send('Page.getFrameTree'));
  // A program before this one may have left the domain on, which then reports no contexts.
  const worlds = session.send('Runtime.disable').catch(ignore).then(() => session.send('Runtime.enable'));
  // Not awaited if the page is closed before it has answered.
  worlds.catch(ignore);
  const { frameTree } = await tree;
  addFrameTree(page, session, frameTree, rootParent);
  await Promise.all([worlds, ...optional.map(([method, params]) => session.send(method, params).catch(ignore))]);
}

function addFrameTree(page, session, { frame: payload, childFrames = [] }, parent) {
  const frame = page._frames.get(payload.id) || new Frame(page, session, parent, payload);
  frame._update(payload);
  page._frames.set(payload.id, frame);
  if (!parent) {
    if (page._main !== frame) page._frames.delete(page._main._id);
    page._main = frame;
  }
  for (const child of childFrames) addFrameTree(page, session, child, frame);
  // The contexts may have been reported before the frames.
  for (const { id, frameId, isUtility } of page._earlyWorlds.splice(0)) addWorld(page, id, frameId, isUtility);
}

function addWorld(page, id, frameId, isUtility) {
  const frame = page._frames.get(frameId);
  if (!frame) page._earlyWorlds.push({ id, frameId, isUtility });
  else if (!isUtility) frame._main = new World(frame, id, false);
  // An earlier program has made it: it holds the references of the last snapshot.
  else frame._utility ??= Promise.resolve(new World(frame, id, true));
  page._check();
}

function watchWorlds(page, session) {
  const ofSession = () => [...page._frames.values()].filter(frame => frame._session === session);
  session.on('Runtime.executionContextCreated', ({ context }) => {
    const { isDefault, frameId } = context.auxData || {};
    const isUtility = !isDefault && context.name === UTILITY_WORLD;
    if (isDefault || isUtility) addWorld(page, context.id, frameId, isUtility);
  });
  session.on('Runtime.executionContextDestroyed', ({ executionContextId }) => {
    for (const frame of ofSession()) {
      if (frame._main && frame._main.id === executionContextId) frame._main = null;
      const utility = frame._utility;
      if (utility) {
        utility.then(world => {
          if (world.id === executionContextId && frame._utility === utility) frame._utility = null;
        }, ignore);
      }
    }
  });
  session.on('Runtime.executionContextsCleared', () => {
    for (const frame of ofSession()) frame._utility = frame._main = null;
  });
  session.on('Runtime.consoleAPICalled', event => {
    const kind = { warning: 'warning', startGroup: 'startGroup' }[event.type] || event.type;
    page.emit('console', new ConsoleMessage(page, { ...event, type: kind }));
  });
  session.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    const error = pageError(exceptionDetails);
    error.message = error.message.replace(/^Uncaught /, '').split('\n')[0].replace(/^(\w*Error): /, (_, name) => {
      error.name = name;
      return '';
    });
    page.emit('pageerror', error);
  });
}

function watchFrames(page, session) {
  session.on('Page.frameAttached', ({ frameId, parentFrameId }) => {
    const parent = page._frames.get(parentFrameId);
    if (!parent || page._frames.has(frameId)) return;
    const frame = new Frame(page, session, parent, { id: frameId, url: 'about:blank', loaderId: '' });
    page._frames.set(frameId, frame);
    page.emit('frameattached', frame);
  });
  session.on('Page.frameNavigated', ({ frame: payload, type }) => {
    const frame = page._frames.get(payload.id);
    if (!frame) return;
    const isNew = frame._loaderId !== payload.loaderId;
    frame._update(payload);
    frame._navigations++;
    page._navigating.delete(payload.id);
    if (isNew) frame._events = new Set(frame._nextEvents.get(payload.loaderId) || []);
    frame._nextEvents.clear();
    if (type === 'BackForwardCacheRestore') frame._events = new Set(Object.values(LOAD_STATES));
    page._check();
    page.emit('framenavigated', frame);
  });
  session.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
    const frame = page._frames.get(frameId);
    if (!frame) return;
    frame._url = url;
    frame._navigations++;
    page._navigating.delete(frameId);
    page._check();
    page.emit('framenavigated', frame);
  });
  session.on('Page.frameDetached', ({ frameId, reason }) => {
    // A frame that moves to another process keeps its place.
    if (reason === 'swap') return;
    const frame = page._frames.get(frameId);
    if (!frame) return;
    for (const child of frame.childFrames()) page._frames.delete(child._id);
    page._frames.delete(frameId);
    frame._isDetached = true;
    page.emit('framedetached', frame);
  });
  session.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
    const frame = page._frames.get(frameId);
    if (!frame) return;
    if (name === 'init' && loaderId === frame._loaderId) frame._events = new Set();
    if (loaderId === frame._loaderId) frame._events.add(name);
    else frame._nextEvents.set(loaderId, [...frame._nextEvents.get(loaderId) || [], name]);
    page._check();
    if (frame !== page._main) return;
    if (name === 'load') page.emit('load', page);
    if (name === 'DOMContentLoaded') page.emit('domcontentloaded', page);
  });
  const requested = ({ frameId, disposition = 'currentTab' }) => {
    if (disposition === 'currentTab') page._navigating.add(frameId);
  };
  const ended = ({ frameId }) => {
    page._navigating.delete(frameId);
    page._check();
  };
  session.on('Page.frameRequestedNavigation', requested);
  session.on('Page.frameScheduledNavigation', event => { if (event.delay < 1) requested(event); });
  session.on('Page.frameStoppedLoading', ended);
}
