//! `POST /v2/parse` and `GET /v2/parse/formats`.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_scrape::FileUpload;
use websvc_stage::Stage;
use websvc_store::UsageRetention;
use websvc_transport::{Body, ServerBody};
use websvc_types::limits::{UPLOAD_MAX_BYTES, UPLOAD_OPTIONS_MAX_BYTES};
use websvc_types::{ErrorCode, ParseFormatList, ParseFormats, Violation, ViolationCode};
use websvc_validate::{Checked, read_parse_options};

use super::scrape::ScrapeWork;
use super::search::{body_policy, policy};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_page;
use crate::charge;
use crate::multipart::{Multipart, Part};
use crate::response::{ApiError, HttpResponse, json, with_type};
use crate::service::RequestContext;
use crate::uploads::UploadSpool;

/// The maximum number of parts. Two are used; some clients send a few more.
const MAX_PARTS: usize = 16;

/// The parts of a request to parse a file.
struct ParseForm {
    file: Part,
    content: UploadSpool,
    options: Bytes,
    warnings: Vec<String>,
}

/// Handles a request to parse an uploaded file.
pub(crate) async fn parse(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let engine = &context.state.engine;
    let policy = body_policy(&policy(&context)?);
    let permit = context.state.uploads.acquire(context.team_name())?;
    // Without credits for the cheapest file, the upload is rejected early. The maximum price of this file is known, and
    // held, when its options have arrived.
    drop(charge::hold(&context, engine.min_file_credits()).await?);
    let ParseForm { file, content, options, warnings: form_warnings } = receive(&context, request).await?;
    let decoding =
        context.state.admission.decode_body(options, move |options| read_parse_options(options, &policy));
    let Checked { plan, mut warnings } = engine.stages().run(Stage::Decode, decoding).await?;
    warnings.extend(form_warnings);
    let Part { file_name, media_type, .. } = file;
    let (name, scrape) = (file_name.unwrap_or_default(), plan.scrape());
    let retention = context.retention(plan.retention(), scrape.lockdown());
    let username = scrape.audit().map(|audit| audit.username.as_str());
    context.trail.set_request(retention, &AuditedRequest { username, ..AuditedRequest::default() });
    authorize_page(context.caller.as_ref(), scrape)?;
    let hold = charge::hold(&context, engine.max_file_credits(scrape)).await?;
    // The timeout begins when the file has arrived. It includes the wait for memory.
    let deadline = Instant::now() + scrape.timeout().max(Duration::from_secs(1));
    let bytes = content.load(&context.state.uploads, context.team_name(), deadline).await?;
    let upload = FileUpload { name, media_type, bytes };
    let query = (retention == UsageRetention::Whole).then(|| upload.file_name());
    let outcome = engine.parse(upload, scrape, deadline).await;
    drop(permit);
    let work = ScrapeWork { operation: "parse", hold, retention, query, warnings };
    let response = work.charge(&context, outcome).await.map_err(ApiError::with_page_status)?;
    let json = response.to_json(&context)?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Lists the supported kinds of files.
pub(crate) fn parse_formats(context: &RequestContext<'_>) -> HttpResponse {
    let formats = context.state.engine.scraper().file_formats();
    json(StatusCode::OK, &ParseFormats { success: true, data: ParseFormatList { formats } })
}

/// Receives the parts of a request; a large file is spooled to the disk.
async fn receive(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<ParseForm, ApiError> {
    let max_bytes = UPLOAD_MAX_BYTES + UPLOAD_OPTIONS_MAX_BYTES as u64 + 64 * 1024;
    let mut body = Multipart::from_request(request, max_bytes)?;
    let (mut file, mut options, mut warnings) = (None, None, Vec::new());
    for _ in 0..MAX_PARTS {
        let Some(part) = body.next_part().await? else {
            let Some((file, content)) = file else { return Err(invalid("file", "file is required")) };
            let options = options.unwrap_or_else(|| Bytes::from_static(b"{}"));
            return Ok(ParseForm { file, content, options, warnings });
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
