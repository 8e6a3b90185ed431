// What is shown is renewed while somebody looks.

import { el, field } from "./dom.js";

const LONGEST = 60_000;

/** Repeats an action every `pace` milliseconds: more and more seldom while it fails, not at all while nobody looks. Returns what ends it. */
export function repeat(action, pace, failed) {
  let [wait, timer, busy, over] = [pace, null, false, false];
  const plan = () => { if (!over && !document.hidden) timer = setTimeout(run, wait); };
  const run = async () => {
    if (busy || over) return;
    busy = true;
    clearTimeout(timer);
    try {
      await action();
      wait = pace;
      failed(null);
    } catch (error) {
      wait = Math.min(wait * 2, LONGEST);
      failed(error, wait);
    }
    busy = false;
    plan();
  };
  const seen = () => { clearTimeout(timer); if (!document.hidden) run(); };
  document.addEventListener("visibilitychange", seen);
  plan();
  return () => { over = true; clearTimeout(timer); document.removeEventListener("visibilitychange", seen); };
}

/** Returns a switch that repeats an action, what says how it goes, and what ends it. */
export function renewal(action, pace, checked) {
  const box = el("input", { type: "checkbox", checked });
  const said = el("span", { class: "hint" });
  let end = () => {};
  const turn = () => {
    end();
    said.textContent = "";
    end = box.checked ? repeat(action, pace, (error, wait) => {
      said.textContent = error ? `Not renewed: ${error.message}. The next attempt is in ${Math.round(wait / 1000)} s.` : "";
    }) : () => {};
  };
  box.addEventListener("change", turn);
  turn();
  return { element: el("div", { class: "renewal" }, field(`Renew every ${pace / 1000} seconds`, box), said), end: () => end() };
}
