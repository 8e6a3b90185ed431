//! The memory that reading a body takes: at most sixteen times the size of the body, or eight MiB.
//!
//! A test binary of its own, because it counts all allocations of its process.

#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use websvc_types::agent::AgentRequest;
use websvc_types::extract::ExtractRequest;
use websvc_types::feedback::{FeedbackRequest, SearchFeedbackRequest};
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_types::interact::{CreateBrowserRequest, ExecuteRequest, InteractRequest};
use websvc_types::job::{BatchScrapeRequest, CrawlParamsRequest, CrawlRequest};
use websvc_types::key::RedeemRequest;
use websvc_types::limits::{BODY_BYTES_PER_VALUE, BODY_MAX_BYTES, BODY_VALUES_MAX, INDEX_BYTES_PER_VALUE};
use websvc_types::llms_txt::LlmsTxtRequest;
use websvc_types::map::{MapRequest, MapRequestV1};
use websvc_types::monitor::{CreateMonitorRequest, MonitorEmailRequest, RunMonitorRequest};
use websvc_types::rerank::RerankRequest;
use websvc_types::{ParseOptions, ScrapeRequest, SearchRequest, schema};
use websvc_validate::{MonitorContext, Policy, Rejection, read_object, read_request, read_with_request};

/// How many times its size a body may take, if it has at least [`FREE_BYTES`].
const MAX_FACTOR: usize = 16;

/// The size below which a body may take as much as one of this size.
const FREE_BYTES: usize = 512 * 1024;

/// The size of the bodies with as many values as a short body may have.
const SHORT_BYTES: usize = 160 * 1024;

/// Parts of the names of the functions whose bodies may have [`BODY_MAX_BYTES`].
const LONG_READERS: [&str; 5] =
    ["read_batch", "read_rerank", "read_index_upload", "read_create_monitor", "read_object"];

/// Counts the bytes that are allocated, and their maximum.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let allocated = ALLOCATED.fetch_add(layout.size(), SeqCst) + layout.size();
        PEAK.fetch_max(allocated, SeqCst);
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.dealloc(pointer, layout) };
    }
}

/// Returns the maximum of bytes that were allocated during `work`, beyond those before it.
fn peak_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATED.load(SeqCst);
    PEAK.store(before, SeqCst);
    work();
    PEAK.load(SeqCst) - before
}

/// A function that reads a body, and the fields of its request.
struct Reader {
    name: &'static str,
    fields: BTreeSet<String>,
    bytes_per_value: usize,
    read: fn(&[u8]),
}

macro_rules! readers {
    ($($request:ty => |$body:ident| $read:expr;)*) => {
        vec![$(Reader {
            name: stringify!($read),
            fields: fields(schema::request::<$request>().as_value()),
            bytes_per_value: BODY_BYTES_PER_VALUE,
            read: |$body| drop($read),
        }),*]
    };
}

fn readers() -> Vec<Reader> {
    let mut readers = readers! {
        SearchRequest => |body| read_request::<SearchRequest>(body, &policy());
        ScrapeRequest => |body| read_request::<ScrapeRequest>(body, &policy());
        ParseOptions => |body| read_request::<ParseOptions>(body, &policy());
        BatchScrapeRequest => |body| read_request::<BatchScrapeRequest>(body, &policy());
        CrawlRequest => |body| read_with_request::<CrawlRequest>(body, &policy());
        CrawlParamsRequest => |body| read_request::<CrawlParamsRequest>(body, ());
        MapRequest => |body| read_request::<MapRequest>(body, &policy());
        MapRequestV1 => |body| read_request::<MapRequestV1>(body, &policy());
        RedeemRequest => |body| read_request::<RedeemRequest>(body, ());
        RerankRequest => |body| read_request::<RerankRequest>(body, ());
        IndexUploadRequest => |body| read_request::<IndexUploadRequest>(body, ());
        CrawlProgressRequest => |body| read_request::<CrawlProgressRequest>(body, ());
        CreateMonitorRequest => |body| read_create_monitor(body);
        RunMonitorRequest => |body| read_request::<RunMonitorRequest>(body, &policy());
        MonitorEmailRequest => |body| read_request::<MonitorEmailRequest>(body, ());
        CreateBrowserRequest => |body| read_request::<CreateBrowserRequest>(body, &policy());
        ExecuteRequest => |body| read_request::<ExecuteRequest>(body, ());
        InteractRequest => |body| read_request::<InteractRequest>(body, ());
        SearchFeedbackRequest => |body| read_request::<SearchFeedbackRequest>(body, ());
        FeedbackRequest => |body| read_request::<FeedbackRequest>(body, ());
        LlmsTxtRequest => |body| read_request::<LlmsTxtRequest>(body, ());
        AgentRequest => |body| read_with_request::<AgentRequest>(body, &policy());
        ExtractRequest => |body| read_with_request::<ExtractRequest>(body, &policy());
        // Adapters read any object first.
        MonitorEmailRequest => |body| read_object(body);
    };
    for reader in &mut readers {
        if reader.name.contains("IndexUploadRequest") {
            reader.bytes_per_value = INDEX_BYTES_PER_VALUE;
        }
    }
    readers
}

fn policy() -> Policy {
    Policy::default()
}

fn read_create_monitor(body: &[u8]) -> Result<(), Rejection> {
    let mut new_id = || "01990000-0000-7000-8000-000000000001".to_owned();
    let (policy, min_interval) = (policy(), Duration::from_secs(60));
    let context =
        MonitorContext { policy: &policy, now: Timestamp::UNIX_EPOCH, min_interval, new_id: &mut new_id };
    read_request::<CreateMonitorRequest>(body, context).map(|_| ())
}

/// Returns the names of the fields of a request, and one that is unknown.
fn fields(schema: &Value) -> BTreeSet<String> {
    let mut fields = BTreeSet::from(["unknown".to_owned()]);
    let parts = schema["allOf"].as_array().into_iter().flatten();
    for part in parts.chain([schema]) {
        let definition = part["$ref"].as_str().and_then(|reference| schema.pointer(&reference[1..]));
        let properties = definition.unwrap_or(part)["properties"].as_object();
        fields.extend(properties.into_iter().flatten().map(|(name, _)| name.clone()));
    }
    fields
}

/// Returns a body of a size whose field has as many of the items as fit, and as a body of this size may have.
fn body(field: &str, item: &str, bytes: usize, bytes_per_value: usize) -> String {
    let values_per_item = item.matches([',', ':', '[', '{']).count() + 1;
    let max_values = BODY_VALUES_MAX.max(bytes / bytes_per_value) - 8;
    let head = format!("{{\"{field}\":[");
    let count = (max_values / values_per_item).min((bytes - head.len() - 16) / (item.len() + 1));
    let items = vec![item; count].join(",");
    let padding = bytes.saturating_sub(head.len() + items.len() + "],\"token\":\"\"}".len());
    format!("{head}{items}],\"token\":\"{}\"}}", "0".repeat(padding))
}

/// The items of the lists: the shortest ones of each kind, and those that become large structures.
const ITEMS: [&str; 8] = [
    r#"{"":0}"#,
    "0",
    "{}",
    r#""html""#,
    r#"{"url":"http://a"}"#,
    r#"{"type":"scrape"}"#,
    r#"{"type":"json","schema":{"":{}}}"#,
    r#"{"":{"":{"":{"":{"":{"":{"":{"":{"":0}}}}}}}}}"#,
];

#[track_caller]
fn check(reader: &Reader, field: &str, body: &str) {
    // The shapes are compiled at the first request.
    (reader.read)(b"{}");
    let peak = peak_of(|| (reader.read)(body.as_bytes()));
    let max = MAX_FACTOR * body.len().max(FREE_BYTES);
    assert!(
        peak <= max,
        "{}, {field}: {peak} bytes for a body of {}: {}",
        reader.name,
        body.len(),
        &body[..80]
    );
}

#[test]
fn no_body_takes_more_than_sixteen_times_its_size() {
    for reader in readers() {
        for field in &reader.fields {
            for item in ITEMS {
                let body = body(field, item, SHORT_BYTES, reader.bytes_per_value);
                check(&reader, field, &body);
            }
        }
        // The largest ones, with as many values as they may have, and with more.
        if LONG_READERS.iter().any(|name| reader.name.contains(name)) {
            for item in ["0", r#"{"":0}"#, r#"{"url":"http://a"}"#] {
                let field = if item.contains("url") { "documents" } else { "unknown" };
                for bytes_per_value in [reader.bytes_per_value, 1] {
                    check(&reader, field, &body(field, item, BODY_MAX_BYTES, bytes_per_value));
                }
            }
        }
    }
}
