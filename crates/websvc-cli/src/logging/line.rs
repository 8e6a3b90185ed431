//! Formatting of log events, one line each: JSON, or text for people.

use std::fmt::Write as _;
use std::io::Write;

use crate::otlp::TraceContext;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use websvc_stage::field;

use super::fields::Fields;
use crate::config::LogFormat;
use crate::output::Colors;

/// A layer that writes events as lines to the writers that `out` returns.
pub(super) struct Lines<O> {
    format: LogFormat,
    colors: Colors,
    out: O,
}

/// Fields of a request span that its lines contain.
#[derive(Default)]
struct SpanIdentity {
    request_id: String,
    is_private: bool,
}

/// The request that a line belongs to.
#[derive(Default)]
struct LineOwner {
    request_id: Option<String>,
    trace: Option<TraceContext>,
    is_private: bool,
}

impl<O> Lines<O> {
    pub(super) fn new(format: LogFormat, colors: Colors, out: O) -> Self {
        Self { format, colors, out }
    }
}

impl<S, O, W> Layer<S> for Lines<O>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    O: Fn() -> W + 'static,
    W: Write,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        let mut identity = SpanIdentity::default();
        attributes.record(&mut identity);
        span.extensions_mut().insert(identity);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(identity) = span.extensions_mut().get_mut::<SpanIdentity>() {
            values.record(identity);
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut owner = LineOwner::default();
        // From the innermost to the outermost span: a tool call is logged under the request that contains it.
        for span in ctx.event_scope(event).into_iter().flatten() {
            let extensions = span.extensions();
            if let Some(identity) = extensions.get::<SpanIdentity>() {
                owner.is_private |= identity.is_private;
                owner.request_id = Some(identity.request_id.clone());
            }
            owner.trace = owner.trace.or_else(|| extensions.get::<TraceContext>().copied());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        if owner.is_private {
            fields.redact();
        }
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let line = match self.format {
            LogFormat::Json => json(*level, target, owner, fields),
            LogFormat::Pretty => pretty(*level, target, &owner, &fields, self.colors),
        };
        // A failure to write the log cannot be reported anywhere.
        let _ = (self.out)().write_all(line.as_bytes());
    }
}

impl Visit for SpanIdentity {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == field::REQUEST_ID {
            value.clone_into(&mut self.request_id);
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == field::PRIVATE {
            self.is_private = value;
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}

/// Formats an event as JSON. The names are an interface, documented in docs/observability.md.
fn json(level: Level, target: &str, owner: LineOwner, fields: Fields) -> String {
    let mut line = Map::new();
    line.insert("timestamp".to_owned(), now().into());
    line.insert("level".to_owned(), level.as_str().into());
    line.insert("target".to_owned(), target.into());
    line.insert("message".to_owned(), fields.message.into());
    if let Some(request_id) = owner.request_id {
        line.insert("request_id".to_owned(), request_id.into());
    }
    if let Some(TraceContext { trace, span }) = owner.trace {
        line.insert("trace_id".to_owned(), trace.to_string().into());
        line.insert("span_id".to_owned(), span.to_string().into());
    }
    line.insert("fields".to_owned(), Value::Object(fields.others));
    format!("{}\n", Value::Object(line))
}

fn pretty(level: Level, target: &str, owner: &LineOwner, fields: &Fields, colors: Colors) -> String {
    let paint = |text: &str, code: u8| match colors {
        Colors::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        Colors::Off => text.to_owned(),
    };
    let level = paint(&format!("{level:>5}"), color(level));
    let mut line =
        format!("{} {level} {}: {}", paint(&now(), 2), paint(target, 2), printable(&fields.message));
    for (name, value) in &fields.others {
        // Writing into a `String` cannot fail. `Debug` quotes and escapes strings.
        let _ = match value {
            Value::String(text) => write!(line, " {}{text:?}", paint(&format!("{name}="), 2)),
            other => write!(line, " {}{other}", paint(&format!("{name}="), 2)),
        };
    }
    if let Some(request_id) = &owner.request_id {
        let _ = write!(line, " {}{request_id}", paint("request_id=", 2));
    }
    line.push('\n');
    line
}

fn color(level: Level) -> u8 {
    match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    }
}

/// Escapes control characters, which could start another line or control a terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;
    use websvc_stage::RequestSpan;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines that are logged by `work`.
    fn lines(format: LogFormat, work: impl FnOnce()) -> Vec<String> {
        let written = Buffer::default();
        let out = written.clone();
        let subscriber = Registry::default().with(Lines::new(format, Colors::Off, move || out.clone()));
        tracing::subscriber::with_default(subscriber, work);
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn json_line_has_the_documented_names_and_the_request_id() {
        let lines = lines(LogFormat::Json, || {
            tracing::warn!(count = 3, "outside");
            RequestSpan::new("req-1", "GET", None).in_scope(|| {
                let error = std::io::Error::other("no\nroom");
                tracing::error!(error = &error as &dyn std::error::Error, answer = true, "inside");
            });
        });
        let read: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read.len(), 2, "{lines:?}");
        assert_eq!((&read[0]["level"], &read[0]["message"]), (&"WARN".into(), &"outside".into()));
        assert_eq!(read[0]["fields"], serde_json::json!({ "count": 3 }));
        assert!(read[0].get("request_id").is_none());
        assert!(read[0]["timestamp"].as_str().unwrap().parse::<Timestamp>().is_ok());
        assert_eq!(read[1]["request_id"], "req-1");
        assert_eq!(read[1]["fields"], serde_json::json!({ "error": "no\nroom", "answer": true }));
    }

    #[test]
    fn lines_of_a_private_request_are_redacted() {
        let lines = lines(LogFormat::Json, || {
            let span = RequestSpan::new("req-1", "POST", None);
            span.in_scope(|| tracing::info!(url = "http://marker.test/", "before"));
            span.set_private();
            span.in_scope(|| {
                let error = std::io::Error::other("marker");
                let error = &error as &dyn std::error::Error;
                tracing::error!(url = "http://marker.test/", error, host = %"marker", bytes = 7, source = "a", "after");
                RequestSpan::within("tool", "scrape").in_scope(|| tracing::info!(query = "marker", "within"));
            });
        });
        assert!(lines[0].contains("marker"), "the line before is not redacted: {lines:?}");
        assert!(
            lines[1..].iter().all(|line| !line.contains("marker") && line.contains("req-1")),
            "{lines:?}"
        );
        let after: Value = serde_json::from_str(&lines[1]).unwrap();
        let withheld = "withheld";
        let expected = serde_json::json!({ "url": withheld, "error": withheld, "host": withheld, "bytes": 7, "source": "a" });
        assert_eq!(after["fields"], expected);
    }

    #[test]
    fn pretty_line_escapes_control_characters() {
        let lines = lines(LogFormat::Pretty, || {
            RequestSpan::new("req-1", "GET", None)
                .in_scope(|| tracing::info!(path = "/a\n\u{1b}[31mb", status = 200, "re\u{1b}quest"));
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(!lines[0].contains('\u{1b}'), "{lines:?}");
        let end = "re\\u{1b}quest path=\"/a\\n\\u{1b}[31mb\" status=200 request_id=req-1";
        assert!(lines[0].ends_with(end), "{}", lines[0]);
    }
}
