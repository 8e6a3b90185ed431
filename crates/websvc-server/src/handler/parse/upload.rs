//! Upload URLs: `POST /v2/parse/upload-url`, and `PUT` of the file to the URL.
//!
//! The replica that gives out a URL keeps the file. The other replicas pass requests for it on.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use jiff::Timestamp;
use uuid::Uuid;
use websvc_stage::Stage;
use websvc_store::ReplicaAddress;
use websvc_transport::ServerBody;
use websvc_types::limits::{UPLOAD_MAX_BYTES, UPLOAD_URL_LIFETIME_S};
use websvc_types::{ErrorCode, UploadUrl, UploadUrlRequest, UploadUrlResponse, Violation, ViolationCode};
use websvc_validate::{Checked, read_request};

use crate::charge;
use crate::forwarding::{Forwarded, ForwardedRequest, Origin};
use crate::handler::search::policy;
use crate::handler::{browser, query};
use crate::paced_body::PacedBody;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;
use crate::uploads::{UploadRef, UploadSpool, UploadedFile};

/// The parameter of an upload URL with the reference.
const PARAMETER: &str = "uploadRef";

/// The media type of a file without a declared one.
const ANY_MEDIA_TYPE: &str = "application/octet-stream";

/// The place of an open upload.
pub(super) enum UploadPlace {
    Here(Uuid),
    Replica(ReplicaAddress),
    /// It was converted, has expired, or its process has ended.
    Gone,
    /// Its replica announces no address.
    Unreachable,
}

/// Handles a request for an upload URL.
pub(super) async fn upload_url(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let (state, team) = (context.state, context.team_name());
    let base_url = state.base_url(&request).ok_or_else(|| {
        let text = "The URL of the service is not known: send the header Host, or set server.public_url";
        ApiError::new(ErrorCode::BadRequest, text)
    })?;
    let policy = policy(&context)?;
    let body = crate::handler::read_body(request)?;
    let decoding =
        state.admission.decode_body(body, move |body| read_request::<UploadUrlRequest>(body, &policy));
    let Checked { plan, warnings: _ } = state.engine.stages().run(Stage::Decode, decoding).await?;
    let UploadUrlRequest { filename, content_type, declared_size_bytes: _ } = plan;
    // Without credits for the cheapest file, no file is sent.
    drop(charge::hold(&context, state.engine.min_file_credits()).await?);
    let file = UploadedFile { name: filename, media_type: content_type.clone() };
    let expires_at_ms = state.store.now_ms() + UPLOAD_URL_LIFETIME_S * 1000;
    let expires_at = i64::try_from(expires_at_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let id = state.uploads.open_uploads().open(team, file)?;
    let reference = UploadRef::new(id, team, state.store.replica_number(), expires_at_ms);
    let upload_ref = state.uploads.sign(&state.store, &reference).await?;
    let content_type = content_type.unwrap_or_else(|| ANY_MEDIA_TYPE.to_owned());
    let data = UploadUrl {
        // A reference has no characters that a query would have to escape.
        upload_url: format!("{base_url}/v2/parse/upload/{id}?{PARAMETER}={upload_ref}"),
        upload_ref,
        method: Method::PUT.to_string(),
        headers: BTreeMap::from([("Content-Type".to_owned(), content_type)]),
        expires_at: expires_at.unwrap_or_default().to_string(),
        max_size_bytes: UPLOAD_MAX_BYTES,
    };
    Ok(json(StatusCode::OK, &UploadUrlResponse { success: true, data }))
}

/// Receives a file. The signed reference in the URL is the permission, and is checked before the file is read.
pub(super) async fn upload(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let state = context.state;
    let uri = request.uri();
    let mut pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let text = pairs.find(|(name, _)| name == PARAMETER).map(|(_, value)| value).unwrap_or_default();
    let reference = state.uploads.verify(&state.store, &text).await?;
    let reference = reference.map_err(|error| invalid_parameter(error.to_string()))?;
    let id = context.capture(&request, "id").parse().ok();
    if id != reference.id() {
        return Err(invalid_parameter("uploadRef does not belong to this URL".to_owned()));
    }
    let is_forwarded = request.extensions().get::<Forwarded>().is_some();
    let place = find(&context, &reference, is_forwarded).await?;
    let origin = browser::origin(&context, &request);
    let permit = state.uploads.acquire(reference.team())?;
    match place {
        UploadPlace::Here(id) => {
            let slot = state.uploads.open_uploads().begin(id)?;
            slot.finish(receive(&context, request).await?)?;
            drop(permit);
            Ok(json(StatusCode::OK, &serde_json::json!({ "success": true })))
        }
        UploadPlace::Replica(replica) => {
            let (path, query) = (uri.path().to_owned(), uri.query().map(str::to_owned));
            let Some(origin) = origin else { return Err(lost()) };
            let content = receive(&context, request).await?;
            let deadline = context.started + std::time::Duration::from_secs(UPLOAD_URL_LIFETIME_S);
            let body = content.load(&state.uploads, reference.team(), deadline).await?;
            let request =
                ForwardedRequest { method: Method::PUT, path, query, origin, body, is_websocket: false };
            pass_on(&context, &replica, request).await
        }
        UploadPlace::Gone => Err(lost()),
        UploadPlace::Unreachable => Err(unreachable()),
    }
}

/// Returns the place of an upload.
pub(super) async fn find(
    context: &RequestContext<'_>,
    reference: &UploadRef,
    is_forwarded: bool,
) -> Result<UploadPlace, ApiError> {
    let state = context.state;
    let Some(id) = reference.id() else { return Ok(UploadPlace::Gone) };
    if state.uploads.open_uploads().contains(id) {
        return Ok(UploadPlace::Here(id));
    }
    let number = reference.replica();
    // One hop only: the other replica is right.
    if is_forwarded || number == state.store.replica_number() {
        return Ok(UploadPlace::Gone);
    }
    let store = state.store.clone();
    let found = crate::blocking::run_blocking(move || store.replica_address(number)).await?;
    let found = found.map_err(|error| ApiError::internal(&error, "the replicas could not be read"))?;
    Ok(match found {
        Some(Some(replica)) if state.forwarding.is_on() => UploadPlace::Replica(replica),
        Some(_) => UploadPlace::Unreachable,
        None => UploadPlace::Gone,
    })
}

/// Passes a request to convert an upload on to the replica that has the upload.
pub(super) async fn forward_parse(
    context: &RequestContext<'_>,
    replica: &ReplicaAddress,
    origin: Origin,
    body: Bytes,
) -> Result<HttpResponse, ApiError> {
    let (method, path) = (Method::POST, "/v2/parse".to_owned());
    let request = ForwardedRequest { method, path, query: None, origin, body, is_websocket: false };
    pass_on(context, replica, request).await
}

async fn pass_on(
    context: &RequestContext<'_>,
    replica: &ReplicaAddress,
    request: ForwardedRequest,
) -> Result<HttpResponse, ApiError> {
    let result = browser::pass_on(replica, context, request).await;
    // The file ends with the process of its replica.
    result.map_err(|error| match error.status() {
        503 => lost(),
        _ => error,
    })
}

/// Receives the file in the body of a request.
async fn receive(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<UploadSpool, ApiError> {
    let mut body = PacedBody::new(request.into_body(), UPLOAD_MAX_BYTES)?;
    let mut content = context.state.uploads.spool();
    while let Some(chunk) = body.next_chunk().await? {
        content.write(chunk).await?;
    }
    if content.bytes() == 0 {
        // The suite of the hosted service expects this text.
        return Err(ApiError::new(ErrorCode::BadRequest, "Uploaded file must not be empty."));
    }
    Ok(content)
}

fn invalid_parameter(message: String) -> ApiError {
    query::invalid(PARAMETER, ViolationCode::InvalidFormat, message)
}

/// Returns the error of a request with a reference that is not valid.
pub(super) fn invalid_ref(message: String) -> ApiError {
    let violation = Violation { path: format!("/{PARAMETER}"), code: ViolationCode::InvalidFormat, message };
    ApiError::invalid(ErrorCode::BadRequest, vec![violation])
}

/// Returns the error of a file that is not there.
pub(super) fn lost() -> ApiError {
    invalid_ref(
        "the file of uploadRef is not available: it was not sent, was converted before, or has expired; send it to a \
         new upload URL"
            .to_owned(),
    )
}

/// Returns the error of an upload on a replica that announces no address.
pub(super) fn unreachable() -> ApiError {
    invalid_ref(
        "the file of uploadRef is on another replica, which announces no address: the operator can set \
         replica.address; until then, send the file with POST /v2/parse"
            .to_owned(),
    )
}
