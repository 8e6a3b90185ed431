// Snapshots of a page with its frames. Their references are numbered together.

// A snapshot of a longer page is cut.
const MAX_SNAPSHOT_LINES = 2000;

// Frames whose content is shown. Pages with advertisements have hundreds.
const MAX_SNAPSHOT_FRAMES = 50;

// Milliseconds for one frame to respond.
const FRAME_TIME = 2000;

// Calls a function of the page library in a frame that may not respond. Then the result is undefined.
function askFrame(frame, method, parts) {
  return new Deadline(FRAME_TIME).race(frame._library(parts, null, method, [])).catch(ignore);
}

// Returns the frame with the element of a reference of the last snapshot, or null.
async function frameOfReference(page, parts) {
  if (await page._main._countNow(parts)) return page._main;
  for (const frame of innerFrames(page)) {
    if (await askFrame(frame, 'count', parts)) return frame;
  }
  return null;
}

function innerFrames(page) { return [...page._frames.values()].filter(frame => frame !== page._main); }

async function snapshotLines(page, options) {
  // A frame that this snapshot does not reach has no references of an earlier one.
  await Promise.all(innerFrames(page).map(frame => askFrame(frame, 'clearReferences', [])));
  const state = { next: 1, frames: MAX_SNAPSHOT_FRAMES, lines: MAX_SNAPSHOT_LINES };
  return linesOfFrame(page._main, options, state);
}

// Returns the lines of a frame, with those of the frames in it after the lines of their elements.
async function linesOfFrame(frame, options, state) {
  const found = await frame._library([], null, 'snapshot', [{ ...options, max: state.lines, first: state.next }]);
  state.next = found.next;
  state.lines -= found.lines.length;
  const lines = [];
  let copied = 0;
  for (const { ref, at, level } of found.frames) {
    lines.push(...found.lines.slice(copied, at));
    copied = at;
    if (state.lines <= 0 || state.frames-- <= 0) continue;
    const depth = options.depth === null ? null : options.depth - level;
    const indent = options.interactive ? '' : '  '.repeat(level);
    const inner = new Deadline(FRAME_TIME).race(linesInside(frame, ref, { ...options, depth, parts: null }, state));
    const shown = await inner.catch(() => {
      // If it responds later, its references must not be those of another frame.
      state.frames = 0;
      return ['- text: (the frame does not respond; frames after it are not shown)'];
    });
    lines.push(...shown.map(line => indent + line));
  }
  lines.push(...found.lines.slice(copied));
  return lines;
}

// Returns the lines of the frame that an element shows. A frame that has not begun to load has none.
async function linesInside(frame, ref, options, state) {
  const world = await frame._world(true);
  const owner = await world.callLibrary('one', null, [[{ by: 'ref', ref }], true], false);
  const inner = owner.objectId ? await frame._contentFrame(owner.objectId) : null;
  return inner ? linesOfFrame(inner, options, state) : [];
}
