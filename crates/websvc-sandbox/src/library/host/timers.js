// Timers, of programs and of the library.

const timers = new Map();
let lastTimer = 0;

// Programs may have this many timers at a time.
const MAX_TIMERS = 10000;

function addTimer(callback, ms, values, isRepeated) {
  if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function');
  if (timers.size >= MAX_TIMERS) throw new Error(`A program may have ${MAX_TIMERS} timers at a time`);
  let time = Number(ms);
  if (!(time >= 1 && time <= 2147483647)) time = 1;
  timers.set(++lastTimer, { callback, values, at: host.now() + time, interval: isRepeated ? time : null });
  return lastTimer;
}

function clearTimer(timer) {
  timers.delete(typeof timer === 'object' && timer !== null ? Number(timer) : timer);
}

const sleep = ms => new Promise(resolve => addTimer(resolve, ms, []));

// Runs one due timer. Returns the milliseconds until the next one, or -1 without one.
function runDueTimer() {
  let next = null;
  let id = null;
  for (const [key, timer] of timers) {
    if (!next || timer.at < next.at) [next, id] = [timer, key];
  }
  if (!next) return -1;
  const wait = next.at - host.now();
  if (wait > 0) return wait;
  if (next.interval === null) timers.delete(id);
  else next.at = host.now() + next.interval;
  try {
    next.callback(...next.values);
  } catch (error) {
    endWithError(error);
  }
  return 0;
}
