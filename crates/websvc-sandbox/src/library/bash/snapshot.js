// Snapshots of a page with its frames. Their references are numbered together.

// A snapshot of a longer page is cut.
const MAX_SNAPSHOT_LINES = 2000;

// Frames whose content is shown. Pages with advertisements have hundreds.
const MAX_SNAPSHOT_FRAMES = 50;

// Milliseconds for the content of one frame.
const FRAME_SNAPSHOT_TIME = 2000;

// Returns the frames of a page that commands may work in, the main one first.
function framesOf(page) {
  const inner = [...page._frames.values()].filter(frame => frame !== page._main);
  return [page._main, ...inner.slice(0, MAX_SNAPSHOT_FRAMES)];
}

async function snapshotLines(page, options) {
  // A frame that this snapshot does not reach has no references of an earlier one.
  await Promise.all(framesOf(page).slice(1).map(frame =>
    new Deadline(FRAME_SNAPSHOT_TIME).race(frame._library([], null, 'clearReferences', [])).catch(ignore)));
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
    const inner = new Deadline(FRAME_SNAPSHOT_TIME).race(linesInside(frame, ref, { ...options, depth, parts: null }, state));
    const shown = await inner.catch(() => {
      // If it responds later, its references must not be those of another frame.
      state.frames = 0;
      return ['- text: (the frame does not respond)'];
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
