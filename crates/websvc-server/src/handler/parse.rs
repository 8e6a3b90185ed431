//! `POST /v2/parse` and `GET /v2/parse/formats`.

mod upload;

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_scrape::FileUpload;
use websvc_stage::Stage;
use websvc_store::{KeyScope, UsageRetention};
use websvc_transport::{Body, ServerBody};
use websvc_types::limits::{UPLOAD_MAX_BYTES, UPLOAD_OPTIONS_MAX_BYTES};
use websvc_types::{
    ErrorCode, ParseFormatList, ParseFormats, ParseOptions, ParseUploadRequest, Violation, ViolationCode,
};
use websvc_validate::{Checked, FilePlan, read_request};

use super::browser;
use super::scrape::ScrapeWork;
use super::search::{body_policy, policy};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_page;
use crate::charge;
use crate::forwarding::Forwarded;
use crate::multipart::{Multipart, Part};
use crate::response::{ApiError, HttpResponse, json, with_type};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;
use crate::uploads::{TakenUpload, UploadPermit, UploadSpool, UploadedFile};
use upload::UploadPlace;

/// The maximum number of parts. Two are used; some clients send a few more.
const MAX_PARTS: usize = 16;

/// The parts of a request to parse a file, and the right to upload it.
pub(crate) struct ParseForm {
    permit: UploadPermit,
    file: Part,
    content: UploadSpool,
    options: Bytes,
    warnings: Vec<String>,
}

/// A request to convert a file, without the file.
struct ParseCall {
    plan: FilePlan,
    warnings: Vec<String>,
}

/// A file that has arrived, and the permit that it holds until it is in memory.
struct ReceivedFile<P> {
    name: String,
    media_type: Option<String>,
    content: UploadSpool,
    permit: P,
}

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    // The service runs `parse` for a form, which it receives before the request is admitted.
    Endpoint::post(
        "/v2/parse",
        OperationGroup::Parse,
        handler!(|context, request| parse_upload(context, request).await),
    )
    .name("parse")
    .scope(KeyScope::Scrape)
    .body(RequestBody::Form)
    .forwarded(),
    Endpoint::get(
        "/v2/parse/formats",
        OperationGroup::Parse,
        handler!(|context, _| Ok(parse_formats(&context))),
    )
    .name("parse-formats")
    .scope(KeyScope::Scrape),
    Endpoint::post(
        "/v2/parse/upload-url",
        OperationGroup::Parse,
        handler!(|context, request| upload::upload_url(context, request).await),
    )
    .name("upload-url")
    .scope(KeyScope::Scrape)
    .body(RequestBody::SHORT),
    // The handler checks the signature of the URL. Clients need no key for it, so no audit event can name one.
    Endpoint::put(
        "/v2/parse/upload/{id}",
        OperationGroup::Parse,
        handler!(|context, request| upload::upload(context, request).await),
    )
    .public()
    .body(RequestBody::File)
    .forwarded(),
];

/// Receives the parts of a request to parse a file.
///
/// # Errors
/// 429 if too many files are being uploaded, 402 without credits, and those of a form: 400, 408, 413, 415.
pub(crate) async fn receive_form(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<ParseForm, ApiError> {
    let permit = context.state.uploads.acquire(context.team_name())?;
    // Without credits for the cheapest file, the upload is rejected early. The maximum price of this file is known, and
    // held, when its options have arrived.
    drop(charge::hold(context, context.state.engine.min_file_credits()).await?);
    receive(context, request, permit).await
}

/// Handles a request to parse an uploaded file.
pub(crate) async fn parse(context: RequestContext<'_>, form: ParseForm) -> Result<HttpResponse, ApiError> {
    let engine = &context.state.engine;
    let policy = body_policy(&policy(&context)?);
    let ParseForm { permit, file, content, options, warnings: form_warnings } = form;
    let decoding = context
        .state
        .admission
        .decode_body(options, move |options| read_request::<ParseOptions>(options, &policy));
    let Checked { plan, mut warnings } = engine.stages().run(Stage::Decode, decoding).await?;
    warnings.extend(form_warnings);
    let Part { file_name, media_type, .. } = file;
    let file = ReceivedFile { name: file_name.unwrap_or_default(), media_type, content, permit };
    convert(&context, ParseCall { plan, warnings }, || Ok(file)).await
}

/// Handles a request to parse a file that was sent to an upload URL.
async fn parse_upload(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let state = context.state;
    let policy = body_policy(&policy(&context)?);
    let is_forwarded = request.extensions().get::<Forwarded>().is_some();
    let origin = browser::origin(&context, &request);
    let body = super::read_body(request)?;
    let decoded = body.clone();
    let decoding =
        state.admission.decode_body(decoded, move |body| read_request::<ParseUploadRequest>(body, &policy));
    let Checked { plan: (upload_ref, plan), warnings } =
        state.engine.stages().run(Stage::Decode, decoding).await?;
    let reference = state.uploads.verify(&state.store, &upload_ref).await?;
    let reference = reference.map_err(|error| upload::invalid_ref(error.to_string()))?;
    if reference.team() != context.team_name() {
        let text = "uploadRef does not belong to the authenticated team";
        return Err(ApiError::new(ErrorCode::Forbidden, text));
    }
    match (upload::find(&context, &reference, is_forwarded).await?, origin) {
        (UploadPlace::Here(id), _) => {
            let take = || {
                let TakenUpload { file, content, permit } =
                    state.uploads.open_uploads().take(id).ok_or_else(upload::lost)?;
                let UploadedFile { name, media_type } = file;
                Ok(ReceivedFile { name, media_type, content, permit })
            };
            convert(&context, ParseCall { plan, warnings }, take).await
        }
        (UploadPlace::Replica(replica), Some(origin)) => {
            upload::forward_parse(&context, &replica, origin, body).await
        }
        (UploadPlace::Unreachable, _) => Err(upload::unreachable()),
        (UploadPlace::Gone | UploadPlace::Replica(_), _) => Err(upload::lost()),
    }
}

/// Converts a file, which is taken when everything else is known to be right, and responds with the document.
async fn convert<P>(
    context: &RequestContext<'_>,
    call: ParseCall,
    take: impl FnOnce() -> Result<ReceivedFile<P>, ApiError>,
) -> Result<HttpResponse, ApiError> {
    let (ParseCall { plan, warnings }, engine) = (call, &context.state.engine);
    let scrape = &plan.scrape;
    let retention = context.retention(plan.scrape.retention, scrape.lockdown);
    let username = scrape.audit.as_ref().map(|audit| audit.username.as_str());
    context.trail.set_request(retention, &AuditedRequest { username, ..AuditedRequest::default() });
    authorize_page(context.caller.as_ref(), scrape)?;
    let hold = charge::hold(context, engine.max_file_credits(scrape)).await?;
    let ReceivedFile { name, media_type, content, permit } = take()?;
    // The timeout begins when the file has arrived. It includes the wait for memory.
    let deadline = Instant::now() + scrape.timeout.max(Duration::from_secs(1));
    let bytes = content.load(&context.state.uploads, context.team_name(), deadline).await?;
    let upload = FileUpload { name, media_type, bytes };
    let query = (retention == UsageRetention::Whole).then(|| upload.file_name());
    let outcome = engine.parse(upload, scrape, deadline).await;
    drop(permit);
    let work = ScrapeWork { operation: "parse", hold, retention, query, warnings };
    let response = work.charge(context, outcome).await.map_err(ApiError::with_page_status)?;
    let json = response.to_json(context)?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Lists the supported kinds of files.
fn parse_formats(context: &RequestContext<'_>) -> HttpResponse {
    let formats = context.state.engine.scraper().file_formats();
    json(StatusCode::OK, &ParseFormats { success: true, data: ParseFormatList { formats } })
}

/// Receives the parts of a request; a large file is spooled to the disk.
async fn receive(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
    permit: UploadPermit,
) -> Result<ParseForm, ApiError> {
    let max_bytes = UPLOAD_MAX_BYTES + UPLOAD_OPTIONS_MAX_BYTES as u64 + 64 * 1024;
    let mut body = Multipart::from_request(request, max_bytes)?;
    let (mut file, mut options, mut warnings) = (None, None, Vec::new());
    for _ in 0..MAX_PARTS {
        let Some(part) = body.next_part().await? else {
            let Some((file, content)) = file else { return Err(invalid("file", "file is required")) };
            let options = options.unwrap_or_else(|| Bytes::from_static(b"{}"));
            return Ok(ParseForm { permit, file, content, options, warnings });
        };
        match part.name.as_str() {
            "file" if file.is_some() => return Err(invalid("file", "file may be given once")),
            "file" => file = Some((part, receive_file(context, &mut body).await?)),
            "options" if options.is_some() => return Err(invalid("options", "options may be given once")),
            "options" => options = Some(receive_options(&mut body).await?),
            other => {
                let name: String = other.chars().filter(|char| !char.is_control()).take(60).collect();
                warnings.push(format!("{name} is unknown and was ignored"));
            }
        }
    }
    Err(invalid("", &format!("the request has more than {MAX_PARTS} parts")))
}

async fn receive_file(context: &RequestContext<'_>, body: &mut Multipart) -> Result<UploadSpool, ApiError> {
    let mut spool = context.state.uploads.spool();
    while let Some(chunk) = body.next_chunk().await? {
        if spool.bytes() + chunk.len() as u64 > UPLOAD_MAX_BYTES {
            let text = format!("the file is larger than {UPLOAD_MAX_BYTES} bytes");
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, text));
        }
        spool.write(chunk).await?;
    }
    Ok(spool)
}

async fn receive_options(body: &mut Multipart) -> Result<Bytes, ApiError> {
    let mut options = Vec::new();
    while let Some(chunk) = body.next_chunk().await? {
        if options.len() + chunk.len() > UPLOAD_OPTIONS_MAX_BYTES {
            let text = format!("options are larger than {UPLOAD_OPTIONS_MAX_BYTES} bytes");
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, text));
        }
        options.extend_from_slice(&chunk);
    }
    Ok(Bytes::from(options))
}

fn invalid(field: &str, message: &str) -> ApiError {
    let path = if field.is_empty() { String::new() } else { format!("/{field}") };
    let code = if message.ends_with("required") { ViolationCode::Missing } else { ViolationCode::TooLong };
    let violation = Violation { path, code, message: message.to_owned() };
    ApiError::invalid(ErrorCode::BadRequest, vec![violation])
}
