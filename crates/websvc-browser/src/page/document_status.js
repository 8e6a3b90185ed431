// Returns the status of the document: {ready, changes, scripts, stores, text}. `changes` grows with every change of the
// document. `scripts` is true if something could change it. `stores` is true if the page has databases, and null while
// that is not known. `text` is the length of the visible text.
(() => {
  if (!globalThis.changes) {
    const changes = { count: 0, stores: null, pending: false };
    globalThis.changes = changes;
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => { changes.count += 1; }).observe(document, options);
    const setStores = (stores) => { changes.stores = stores; changes.pending = false; };
    changes.query = () => {
      changes.pending = true;
      try {
        indexedDB.databases().then((names) => setStores(names.length > 0), () => setStores(false));
      } catch {
        setStores(false);
      }
    };
  }
  // A database that is being created is not listed yet, so the list is read again with every call. If the previous list
  // has not arrived, the page is busy.
  const isBusy = globalThis.changes.pending;
  if (!globalThis.changes.stores && !isBusy) globalThis.changes.query();
  // A script in a frame may change the document around it. Frames of other sites and sandboxed frames cannot; their
  // `contentDocument` is null. Handlers of `load` and `error` events, such as those of images, are scripts too.
  const frames = [...document.querySelectorAll('iframe, frame, object')];
  const scripts = document.querySelector('script, [onload], [onerror]') !== null
    || frames.some((frame) => frame.contentDocument !== null);
  const text = document.body ? document.body.innerText.trim().length : 0;
  const { count, stores } = globalThis.changes;
  return { ready: document.readyState, changes: count, scripts, stores: isBusy ? null : stores, text };
})
