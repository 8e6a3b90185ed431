// Automatic refresh of a page while it is visible.

import { el, field, showError } from "./dom.js";

const MAX_INTERVAL_MS = 60_000;

/**
 * Repeats an action every `interval` milliseconds while the page is visible. The interval doubles after each failure.
 * Returns a function that stops it.
 */
export function poll(action, interval, onResult) {
  let [delay, timer, isRunning, isStopped] = [interval, null, false, false];
  const schedule = () => { if (!isStopped && !document.hidden) timer = setTimeout(run, delay); };
  const run = async () => {
    if (isRunning || isStopped) return;
    isRunning = true;
    clearTimeout(timer);
    try {
      await action();
      delay = interval;
      onResult(null);
    } catch (error) {
      delay = Math.min(delay * 2, MAX_INTERVAL_MS);
      onResult(error, delay);
    }
    isRunning = false;
    schedule();
  };
  const onVisibilityChange = () => { clearTimeout(timer); if (!document.hidden) run(); };
  document.addEventListener("visibilitychange", onVisibilityChange);
  schedule();
  return () => { isStopped = true; clearTimeout(timer); document.removeEventListener("visibilitychange", onVisibilityChange); };
}

/** Repeats an action while a condition holds and the page is visible. Returns a function that stops it. */
export function refreshWhile(isActive, action) {
  return poll(async () => { if (isActive()) await action(); }, 2000, (error) => { if (error) showError(`The page could not be refreshed: ${error.message}`); });
}

/** Returns a checkbox that starts and stops the refresh, with its errors, and a function that stops it. */
export function autoRefresh(action, interval, checked) {
  const checkbox = el("input", { type: "checkbox", checked });
  const message = el("span", { class: "hint" });
  let stop = () => {};
  const update = () => {
    stop();
    message.textContent = "";
    stop = checkbox.checked ? poll(action, interval, (error, delay) => {
      message.textContent = error ? `Refresh failed: ${error.message}. Next attempt in ${Math.round(delay / 1000)} s.` : "";
    }) : () => {};
  };
  checkbox.addEventListener("change", update);
  update();
  return { element: el("div", { class: "auto-refresh" }, field(`Auto-refresh every ${interval / 1000} seconds`, checkbox), message), stop: () => stop() };
}
