// Returns how the document changes: {ready, quiet, scripts, text}; `quiet` is the time in ms since the last change.
(() => {
  if (!globalThis.lastChange) {
    const change = { at: performance.now() };
    globalThis.lastChange = change;
    const what = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => { change.at = performance.now(); }).observe(document, what);
  }
  const scripts = document.scripts.length > 0;
  const text = document.body ? document.body.innerText.trim().length : 0;
  return { ready: document.readyState, quiet: performance.now() - globalThis.lastChange.at, scripts, text };
})
