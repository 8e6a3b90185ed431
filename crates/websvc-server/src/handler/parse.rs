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
use super::search::{policy, team};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorise_formats;
use crate::charge;
use crate::multipart::{Multipart, Part};
use crate::response::{ApiError, HttpResponse, json, with_type};
use crate::service::RequestContext;
use crate::uploads::UploadSpool;

/// A request has two parts of meaning; some clients send a few more.
const PARTS_MAX: usize = 16;

/// What a request to read a file brings.
struct ParseForm {
    file: Part,
    content: UploadSpool,
    options: Bytes,
    warnings: Vec<String>,
}

/// Reads an uploaded file.
pub(crate) async fn parse(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let rules = policy(context.store, context.caller.as_ref())?;
    let slot = context.uploads.slot(team(&context))?;
    // Who cannot pay for any file need not send one. What this one may cost is held when its options are here.
    drop(charge::hold(&context, context.engine.min_file_credits()).await?);
    let ParseForm { file, content, options, warnings: ignored } = receive(&context, request).await?;
    let decoding = context.admission.decode_body(options, move |options| read_parse_options(options, &rules));
    let Checked { plan, mut warnings } = context.engine.stages().run(Stage::Decode, decoding).await?;
    warnings.extend(ignored);
    let Part { file_name, media_type, .. } = file;
    let (name, scrape) = (file_name.unwrap_or_default(), plan.scrape());
    let retention = context.retention(plan.retention(), scrape.lockdown());
    let username = scrape.audit().map(|audit| audit.username.as_str());
    context.trail.set_request(retention, &AuditedRequest { username, ..AuditedRequest::default() });
    authorise_formats(context.caller.as_ref(), scrape.formats())?;
    let hold = charge::hold(&context, context.engine.max_file_credits(scrape)).await?;
    // The time for reading begins when all is here: what waits on the disk until there is memory for it waits within it.
    let deadline = Instant::now() + scrape.timeout().max(Duration::from_secs(1));
    let bytes = content.load(context.uploads, team(&context), deadline).await?;
    let upload = FileUpload { name, media_type, bytes };
    let query = (retention == UsageRetention::Whole).then(|| upload.file_name());
    let outcome = context.engine.parse(upload, scrape, deadline).await;
    drop(slot);
    let work = ScrapeWork { operation: "parse", hold, retention, query, warnings };
    let answer = work.into_answer(&context, outcome).await.map_err(ApiError::of_page)?;
    let json = answer.json(&context)?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Lists the kinds of files.
pub(crate) fn parse_formats(context: &RequestContext<'_>) -> HttpResponse {
    let formats = context.engine.scraper().file_formats();
    json(StatusCode::OK, &ParseFormats { success: true, data: ParseFormatList { formats } })
}

/// Receives the parts of a request, the file onto the disk.
async fn receive(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<ParseForm, ApiError> {
    let most = UPLOAD_MAX_BYTES + UPLOAD_OPTIONS_MAX_BYTES as u64 + 64 * 1024;
    let mut parts = Multipart::of(request, most)?;
    let (mut file, mut options, mut warnings) = (None, None, Vec::new());
    for _ in 0..PARTS_MAX {
        let Some(part) = parts.next_part().await? else {
            let Some((file, content)) = file else { return Err(refused("file", "file is required")) };
            let options = options.unwrap_or_else(|| Bytes::from_static(b"{}"));
            return Ok(ParseForm { file, content, options, warnings });
        };
        match part.name.as_str() {
            "file" if file.is_some() => return Err(refused("file", "file may be given once")),
            "file" => file = Some((part, receive_file(context, &mut parts).await?)),
            "options" if options.is_some() => return Err(refused("options", "options may be given once")),
            "options" => options = Some(receive_options(&mut parts).await?),
            other => {
                let name: String = other.chars().filter(|sign| !sign.is_control()).take(60).collect();
                warnings.push(format!("{name} is unknown and was ignored"));
            }
        }
    }
    Err(refused("", &format!("the request has more than {PARTS_MAX} parts")))
}

async fn receive_file(context: &RequestContext<'_>, parts: &mut Multipart) -> Result<UploadSpool, ApiError> {
    let mut spool = context.uploads.spool();
    while let Some(piece) = parts.piece().await? {
        if spool.bytes() + piece.len() as u64 > UPLOAD_MAX_BYTES {
            let text = format!("the file is larger than {UPLOAD_MAX_BYTES} bytes");
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, text));
        }
        spool.write(piece).await?;
    }
    Ok(spool)
}

async fn receive_options(parts: &mut Multipart) -> Result<Bytes, ApiError> {
    let mut options = Vec::new();
    while let Some(piece) = parts.piece().await? {
        if options.len() + piece.len() > UPLOAD_OPTIONS_MAX_BYTES {
            let text = format!("options are larger than {UPLOAD_OPTIONS_MAX_BYTES} bytes");
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, text));
        }
        options.extend_from_slice(&piece);
    }
    Ok(Bytes::from(options))
}

fn refused(field: &str, message: &str) -> ApiError {
    let path = if field.is_empty() { String::new() } else { format!("/{field}") };
    let code = if message.ends_with("required") { ViolationCode::Missing } else { ViolationCode::TooLong };
    let violation = Violation { path, code, message: message.to_owned() };
    ApiError::invalid(ErrorCode::BadRequest, vec![violation])
}
