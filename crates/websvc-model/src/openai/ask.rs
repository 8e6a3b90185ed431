//! One request to the endpoint, repeated while there is time and a reason to.

use std::time::Duration;

use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use serde_json::Value;
use url::Url;
use websvc_transport::{FetchError, FetchRequest, FetchResponse, RedirectPolicy};

use super::{AttemptBudget, OpenAi};
use crate::error::ModelError;

/// The largest answer that is read.
const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// How often a request is repeated that the server is too busy for.
const RETRIES: u32 = 3;

/// The wait before the first repetition, when the server names none; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// How much is read of what a server says of a refusal.
const REFUSAL_BYTES: usize = 2_048;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum CallFailure {
    /// The server may not know the form of the question; this is what it says, in lower case.
    Form { status: u16, said: String },
    /// Anything else.
    Failed(ModelError),
}

impl From<ModelError> for CallFailure {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Gets what is at a path.
pub(super) async fn get(model: &OpenAi, path: &str, time: AttemptBudget) -> Result<Value, ModelError> {
    match send(model, FetchRequest::get(address(&model.base_url, path)), time).await {
        Ok(answer) => Ok(answer),
        Err(CallFailure::Form { status, said: _ }) => Err(ModelError::Refused { status }),
        Err(CallFailure::Failed(error)) => Err(error),
    }
}

/// Sends JSON to a path.
pub(super) async fn post(
    model: &OpenAi,
    path: &str,
    body: &Value,
    time: AttemptBudget,
) -> Result<Value, CallFailure> {
    let mut request = FetchRequest::post(address(&model.base_url, path), body.to_string());
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    send(model, request, time).await
}

fn address(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

async fn send(model: &OpenAi, mut request: FetchRequest, time: AttemptBudget) -> Result<Value, CallFailure> {
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(key) = &model.key {
        request.headers.insert(AUTHORIZATION, key.clone());
    }
    request.max_body_bytes = MAX_BODY_BYTES;
    request.max_decoded_bytes = MAX_BODY_BYTES;
    // A header with a secret does not go elsewhere by itself.
    request.redirects = RedirectPolicy::None;
    let mut attempt = 0;
    loop {
        request.timeout = time.left();
        if request.timeout.is_zero() {
            return Err(time.late().into());
        }
        let (error, wait) = match model.client.fetch(request.clone()).await {
            Ok(fetched) if fetched.status.is_success() => return read(&fetched).map_err(CallFailure::from),
            Ok(fetched) if is_passing(&fetched) => {
                (ModelError::Refused { status: fetched.status.as_u16() }, retry_after(&fetched))
            }
            Ok(fetched) => return Err(refused(&fetched)),
            Err(error) => (failed(&error, time), None),
        };
        let wait = wait.unwrap_or(FIRST_WAIT * 2_u32.pow(attempt));
        let is_last = attempt >= RETRIES || !is_worth_repeating(&error) || wait >= time.left();
        if is_last {
            return Err(error.into());
        }
        attempt += 1;
        tokio::time::sleep(wait).await;
    }
}

/// Tells whether a status may be another one soon.
fn is_passing(fetched: &FetchResponse) -> bool {
    matches!(fetched.status.as_u16(), 429 | 500 | 502 | 503 | 504)
}

fn is_worth_repeating(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. } | ModelError::Refused { .. } => true,
        ModelError::Missing
        | ModelError::Late { .. }
        | ModelError::TooLarge { .. }
        | ModelError::BadAnswer { .. } => false,
    }
}

fn retry_after(fetched: &FetchResponse) -> Option<Duration> {
    let seconds = fetched.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn refused(fetched: &FetchResponse) -> CallFailure {
    let status = fetched.status.as_u16();
    match status {
        400 | 415 | 422 | 501 => {
            let said = &fetched.body[..fetched.body.len().min(REFUSAL_BYTES)];
            CallFailure::Form { status, said: String::from_utf8_lossy(said).to_lowercase() }
        }
        413 => ModelError::TooLarge { what: "the question" }.into(),
        _ => ModelError::Refused { status }.into(),
    }
}

/// Tells what went wrong without the host and without any source.
fn failed(error: &FetchError, time: AttemptBudget) -> ModelError {
    let what = match error {
        FetchError::Timeout { .. } => return time.late(),
        FetchError::TooLarge { .. } | FetchError::Decode { .. } => {
            return ModelError::TooLarge { what: "the answer" };
        }
        FetchError::Dns { .. } => "its host was not found",
        FetchError::Connect { .. } => "it cannot be connected to",
        FetchError::Tls { .. } => "there is no secure connection to it",
        _ => "it did not answer",
    };
    ModelError::Unreachable { what }
}

fn read(fetched: &FetchResponse) -> Result<Value, ModelError> {
    if fetched.truncated {
        return Err(ModelError::BadAnswer { what: "it broke off" });
    }
    serde_json::from_slice(&fetched.body).map_err(|_| ModelError::BadAnswer { what: "not valid JSON" })
}
