// Returns how the document is: {ready, changes, scripts, stores, text}; `changes` grows with everything that changes in
// it, `scripts` says whether there is something that could change it, `stores` whether the page has databases, as soon as
// that is known.
(() => {
  if (!globalThis.changes) {
    const changes = { count: 0, stores: null, asked: false };
    globalThis.changes = changes;
    const what = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => { changes.count += 1; }).observe(document, what);
    const known = (stores) => { changes.stores = stores; changes.asked = false; };
    changes.ask = () => {
      changes.asked = true;
      try {
        indexedDB.databases().then((names) => known(names.length > 0), () => known(false));
      } catch {
        known(false);
      }
    };
  }
  // One that is being made is not told of yet: it is asked again with every look.
  // No answer since the last look means that something is being done.
  const isBusy = globalThis.changes.asked;
  if (!globalThis.changes.stores && !isBusy) globalThis.changes.ask();
  // What runs in a frame may change the document around it, unless it is of another site or in a box: then its document
  // is not shown. A picture may say what runs when it is there, or is not.
  const frames = [...document.querySelectorAll('iframe, frame, object')];
  const scripts = document.querySelector('script, [onload], [onerror]') !== null
    || frames.some((frame) => frame.contentDocument !== null);
  const text = document.body ? document.body.innerText.trim().length : 0;
  const { count, stores } = globalThis.changes;
  return { ready: document.readyState, changes: count, scripts, stores: isBusy ? null : stores, text };
})
