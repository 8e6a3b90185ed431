//! The JavaScript engine: loads the library and runs jobs, timers and messages until the program ends.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Error, Function, Object, Persistent, Runtime, Value,
};

use super::input::Input;
use super::library;
use super::outputs::Outputs;
use crate::frame::{Finish, Kind, Start};
use crate::program::MAX_OUTPUT_BYTES;

/// The maximum stack of the engine. A main thread has 8 MiB.
const STACK_BYTES: usize = 1024 * 1024;
/// The name of the program in stack traces.
const PROGRAM_FILE: &str = "program.js";
/// The name of the library in stack traces.
const LIBRARY_FILE: &str = "library.js";

/// The function of the library that gets rejected promises, when the library is loaded.
type Tracker = Rc<RefCell<Option<Persistent<Function<'static>>>>>;

/// Runs the program `start`, which the library gets as JSON.
pub(super) fn run(start: &Start, start_json: &str, input: &Input) -> Result<(), Error> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(usize::try_from(start.memory_bytes).unwrap_or(usize::MAX));
    runtime.set_max_stack_size(STACK_BYTES);
    let tracker = track_rejections(&runtime);
    let context = Context::full(&runtime)?;
    let outputs = Rc::new(Outputs::default());
    context.with(|ctx| {
        let ended = load(&ctx, &tracker, &outputs).and_then(|entry| {
            entry.get::<_, Function<'_>>("start")?.call::<_, ()>((start_json,))?;
            run_jobs(&ctx, &entry, &outputs, input)
        });
        // An error here is one that the library could not report, because it needs memory for that.
        if let Err(error) = ended.catch(&ctx) {
            let message = describe(&error, start.memory_bytes);
            outputs.finish(&Finish { exit_code: 1, error: Some(message), ..Finish::default() });
        }
    });
    // Freeing the heap of a program takes time and brings nothing.
    std::process::exit(0)
}

/// Reports rejected promises to the library. Programs that forget an `await` would lose errors otherwise.
fn track_rejections(runtime: &Runtime) -> Tracker {
    let tracker = Tracker::default();
    let function = Rc::clone(&tracker);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
        let Some(report) = function.borrow().clone() else { return };
        // Without memory for this call, the program fails at its next allocation.
        let _failed =
            report.restore(&ctx).and_then(|report| report.call::<_, ()>((promise, reason, is_handled)));
    })));
    tracker
}

/// Runs the library and returns its entry points.
fn load<'js>(ctx: &Ctx<'js>, tracker: &Tracker, outputs: &Rc<Outputs>) -> Result<Object<'js>, Error> {
    let host = host(ctx, outputs)?;
    let mut options = EvalOptions::default();
    options.filename = Some(LIBRARY_FILE.to_owned());
    let library: Function<'js> = ctx.eval_with_options(library::source(), options)?;
    let entry: Object<'js> = library.call((host, library::page_source()))?;
    let report = entry.get::<_, Function<'js>>("rejection")?;
    *tracker.borrow_mut() = Some(Persistent::save(ctx, report));
    Ok(entry)
}

/// Returns the functions that the library can call.
fn host<'js>(ctx: &Ctx<'js>, outputs: &Rc<Outputs>) -> Result<Object<'js>, Error> {
    let host = Object::new(ctx.clone())?;
    let started = Instant::now();
    host.set("now", Function::new(ctx.clone(), move || started.elapsed().as_secs_f64() * 1000.0)?)?;
    let to = Rc::clone(outputs);
    host.set("send", Function::new(ctx.clone(), move |message: String| to.send(&message))?)?;
    let to = Rc::clone(outputs);
    host.set(
        "print",
        Function::new(ctx.clone(), move |is_error: bool, text: String| to.print(is_error, &text))?,
    )?;
    let to = Rc::clone(outputs);
    host.set("finish", Function::new(ctx.clone(), move |end: String| finish(&to, &end))?)?;
    host.set("evaluate", Function::new(ctx.clone(), evaluate)?)?;
    Ok(host)
}

fn finish(outputs: &Outputs, end: &str) {
    let mut end: Finish = serde_json::from_str(end).unwrap_or_else(|error| Finish {
        exit_code: 1,
        error: Some(format!("invalid outcome: {error}")),
        ..Finish::default()
    });
    for text in [&mut end.result, &mut end.error].into_iter().flatten() {
        if text.len() > MAX_OUTPUT_BYTES {
            text.truncate(text.floor_char_boundary(MAX_OUTPUT_BYTES));
            end.truncated = true;
        }
    }
    outputs.finish(&end);
}

/// Runs the text of the program. Returns a promise of `{ value }`, the value of the last expression.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine passes the arguments of its functions by value"
)]
fn evaluate(ctx: Ctx<'_>, code: String) -> Result<Value<'_>, Error> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = true;
    options.filename = Some(PROGRAM_FILE.to_owned());
    ctx.eval_with_options(code, options)
}

/// Runs jobs, due timers and messages of the browser until the program ends.
fn run_jobs<'js>(ctx: &Ctx<'js>, entry: &Object<'js>, outputs: &Outputs, input: &Input) -> Result<(), Error> {
    let tick: Function<'js> = entry.get("tick")?;
    let message: Function<'js> = entry.get("message")?;
    let closed: Function<'js> = entry.get("closed")?;
    loop {
        while !outputs.is_finished() && ctx.execute_pending_job() {}
        if outputs.is_finished() {
            return Ok(());
        }
        // Milliseconds until the next timer; negative without one.
        let wait: f64 = tick.call(())?;
        if outputs.is_finished() {
            return Ok(());
        }
        let time = (wait >= 0.0).then(|| Duration::from_secs_f64((wait / 1000.0).min(3600.0)));
        if time.is_some_and(|time| time.is_zero()) {
            continue;
        }
        if let Some(frame) = input.next(time) {
            match frame.kind {
                Kind::Message => message.call::<_, ()>((frame.content,))?,
                Kind::Closed => closed.call::<_, ()>(())?,
                Kind::Start | Kind::Stdout | Kind::Stderr | Kind::Finish => {}
            }
        }
    }
}

fn describe(error: &CaughtError<'_>, memory_bytes: u64) -> String {
    // Without memory for an error, the engine throws null.
    let is_null = matches!(error, CaughtError::Value(value) if value.is_null());
    let text = error.to_string();
    if is_null || text.contains("out of memory") {
        return format!("out of memory: a program may use {} MiB", memory_bytes / (1024 * 1024));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_null_and_its_own_message_are_errors_of_memory() {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        for (code, is_memory) in [
            ("throw null", true),
            ("throw new Error('out of memory')", true),
            ("throw new TypeError(\"cannot read property 'x' of null\")", false),
            ("throw 'null'", false),
        ] {
            context.with(|ctx| {
                let error = ctx.eval::<(), _>(code).catch(&ctx).unwrap_err();
                let text = describe(&error, 1024 * 1024);
                assert_eq!(text == "out of memory: a program may use 1 MiB", is_memory, "{code}: {text}");
            });
        }
    }
}
