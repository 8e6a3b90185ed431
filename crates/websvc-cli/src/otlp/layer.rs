//! A `tracing` layer that records the spans to export.

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use tokio::sync::mpsc::Sender;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;
use websvc_stage::{REQUEST, TARGET, TraceMetrics, field};

use crate::otlp::context::{SpanId, TraceContext, TraceId, TraceParent};
use crate::otlp::sampler::Sampler;
use crate::otlp::span::{FinishedSpan, Value};

/// A `tracing` layer that records the spans of requests and of their stages, and queues them for export when they
/// close.
///
/// It ignores all other spans. Give it a filter for [`TARGET`] so that they do not cost anything.
#[derive(Debug)]
pub(crate) struct SpanLayer {
    sampler: Sampler,
    queue: Sender<FinishedSpan>,
    metrics: Arc<TraceMetrics>,
}

/// A span that is being recorded.
///
/// The registry has its [`TraceContext`] as a separate extension, for the log.
struct ActiveSpan {
    parent: Option<SpanId>,
    is_request: bool,
    start_time: SystemTime,
    start: Instant,
    /// Time of the last exit, which ends the span: a handle that is dropped later does not make it longer.
    last_exit: Option<Instant>,
    attributes: Vec<(&'static str, Value)>,
}

impl SpanLayer {
    pub(crate) fn new(sampler: Sampler, queue: Sender<FinishedSpan>, metrics: Arc<TraceMetrics>) -> Self {
        Self { sampler, queue, metrics }
    }

    /// Returns the context and the parent of the span of a request; `None` if its trace is not sampled.
    fn request_context(&self, parent: Option<TraceParent>) -> Option<(TraceContext, Option<SpanId>)> {
        let trace = match parent {
            Some(parent) => parent.context.trace,
            None => TraceId::random()?,
        };
        if !self.sampler.is_sampled(trace, parent) {
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
        let parent_span = span.parent();
        let is_request = span.name() == REQUEST && parent_span.is_none();
        let identity = if is_request {
            self.request_context(fields.traceparent.as_deref().and_then(TraceParent::parse))
        } else {
            // Work outside of a request, such as a crawl, is not traced.
            let parent = parent_span.and_then(|span| span.extensions().get::<TraceContext>().copied());
            parent.and_then(|parent| {
                let context = TraceContext { trace: parent.trace, span: SpanId::random()? };
                Some((context, Some(parent.span)))
            })
        };
        let Some((context, parent)) = identity else { return };
        let active = ActiveSpan {
            parent,
            is_request,
            start_time: SystemTime::now(),
            start: Instant::now(),
            last_exit: None,
            attributes: fields.attributes,
        };
        let mut extensions = span.extensions_mut();
        extensions.insert(context);
        extensions.insert(active);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(active) = span.extensions_mut().get_mut::<ActiveSpan>() {
            let mut fields = Fields::default();
            values.record(&mut fields);
            active.attributes.append(&mut fields.attributes);
        }
    }

    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(active) = span.extensions_mut().get_mut::<ActiveSpan>() {
            active.last_exit = Some(Instant::now());
        }
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(&id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(active) = extensions.remove::<ActiveSpan>() else { return };
        let ActiveSpan { parent, is_request, start_time, start, last_exit, attributes } = active;
        let Some(context) = extensions.get_mut::<TraceContext>().copied() else { return };
        let duration = last_exit.unwrap_or_else(Instant::now).saturating_duration_since(start);
        let finished = FinishedSpan {
            context,
            parent,
            name: span.name(),
            is_request,
            start: start_time,
            end: start_time + duration,
            attributes,
        };
        if self.queue.try_send(finished).is_err() {
            self.metrics.dropped.add(1);
        }
    }
}

/// Fields of a span as they are visited.
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
        self.attributes.push((field.name(), Value::Bool(value)));
    }

    /// Does nothing: the spans of requests and stages have no fields of other types.
    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
