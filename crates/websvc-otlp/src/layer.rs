//! From the spans of `tracing` to those that are sent.

use std::fmt;
use std::time::{Instant, SystemTime};

use tokio::sync::mpsc::Sender;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;
use websvc_stage::{REQUEST, TARGET, TraceCounters, field};

use crate::context::{SpanId, TraceContext, TraceId, TraceParent};
use crate::sampler::Sampler;
use crate::span::{FinishedSpan, Value};

/// Takes the spans of requests and their stages. It has to be given a filter that lets no others in; those are left
/// out here all the same.
#[derive(Debug)]
pub struct SpanLayer {
    sampler: Sampler,
    queue: Sender<FinishedSpan>,
    counters: TraceCounters,
}

/// A span that is recorded; beside it in the registry is its [`TraceContext`], for the log.
struct ActiveSpan {
    parent: Option<SpanId>,
    is_request: bool,
    began: SystemTime,
    begun: Instant,
    /// When nobody worked on it, last: whoever holds on to a span does not make it longer.
    left: Option<Instant>,
    attributes: Vec<(&'static str, Value)>,
}

impl SpanLayer {
    pub(crate) fn new(sampler: Sampler, queue: Sender<FinishedSpan>, counters: TraceCounters) -> Self {
        Self { sampler, queue, counters }
    }

    /// Returns the identity of a request, unless its trace is not sent.
    fn of_request(&self, parent: Option<TraceParent>) -> Option<(TraceContext, Option<SpanId>)> {
        let trace = match parent {
            Some(parent) => parent.context.trace,
            None => TraceId::random()?,
        };
        if !self.sampler.takes(trace, parent) {
            return None;
        }
        let context = TraceContext { trace, span: SpanId::random()? };
        Some((context, parent.map(|parent| parent.context.span)))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id).filter(|span| span.metadata().target() == TARGET) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let above = span.parent();
        let is_request = span.name() == REQUEST && above.is_none();
        let identity = if is_request {
            self.of_request(fields.traceparent.as_deref().and_then(TraceParent::read))
        } else {
            // Work of no request, such as a crawl, is not traced.
            let above = above.and_then(|above| above.extensions().get::<TraceContext>().copied());
            above.and_then(|above| {
                let context = TraceContext { trace: above.trace, span: SpanId::random()? };
                Some((context, Some(above.span)))
            })
        };
        let Some((context, parent)) = identity else { return };
        let (began, begun) = (SystemTime::now(), Instant::now());
        let attributes = fields.attributes;
        let recording = ActiveSpan { parent, is_request, began, begun, left: None, attributes };
        let mut extensions = span.extensions_mut();
        extensions.insert(context);
        extensions.insert(recording);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(recording) = span.extensions_mut().get_mut::<ActiveSpan>() {
            let mut fields = Fields::default();
            values.record(&mut fields);
            recording.attributes.append(&mut fields.attributes);
        }
    }

    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(recording) = span.extensions_mut().get_mut::<ActiveSpan>() {
            recording.left = Some(Instant::now());
        }
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(&id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(recording) = extensions.remove::<ActiveSpan>() else { return };
        let ActiveSpan { parent, is_request, began, begun, left, attributes } = recording;
        let Some(context) = extensions.get_mut::<TraceContext>().copied() else { return };
        let took = left.unwrap_or_else(Instant::now).saturating_duration_since(begun);
        let (name, ended) = (span.name(), began + took);
        let ended = FinishedSpan { context, parent, name, is_request, began, ended, attributes };
        if self.queue.try_send(ended).is_err() {
            self.counters.dropped();
        }
    }
}

/// Fields of a new span.
#[derive(Default)]
struct Fields {
    attributes: Vec<(&'static str, Value)>,
    traceparent: Option<String>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == field::TRACEPARENT {
            self.traceparent = Some(value.to_owned());
        } else {
            self.attributes.push((field.name(), Value::Text(value.to_owned())));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.attributes.push((field.name(), Value::Number(value)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.attributes.push((field.name(), Value::Truth(value)));
    }

    /// The spans of stages have no others.
    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
