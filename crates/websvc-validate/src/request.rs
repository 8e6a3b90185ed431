//! Reading and checking of requests.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use websvc_types::limits::BODY_BYTES_PER_VALUE;
use websvc_types::{Violation, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::report::Report;
use crate::shape::{BodyValue, Shape};
use crate::value_count::{check_value_count, check_values};

/// A request that [`read_request`] and [`check_request`] convert to a plan.
pub trait Request: Shaped + Serialize + DeserializeOwned {
    /// The work to do: all values are valid, all defaults are filled in. Some plans are the request itself.
    type Plan;

    /// The input of the rules besides the request: the [`Policy`](crate::Policy) of the team, or nothing.
    type Context<'a>;

    /// Minimum number of bytes for each value of a body with many values.
    #[doc(hidden)]
    const BYTES_PER_VALUE: usize = BODY_BYTES_PER_VALUE;

    /// True if an empty body is valid, and counts as an empty object.
    #[doc(hidden)]
    const MAY_BE_EMPTY: bool = false;

    /// Checks that the operation is available at all, before the body is read.
    #[doc(hidden)]
    fn check_availability(_context: &Self::Context<'_>) -> Result<(), Rejection> {
        Ok(())
    }

    /// Converts a body to the request. Values of the wrong shape are reported and removed before.
    #[doc(hidden)]
    fn from_body(body: BodyValue<'_>, report: &mut Report) -> Result<Self, Rejection> {
        deserialize(body, report)
    }

    /// Applies the rules. The plan is valid only if the report has no violation. `None` means that it has one.
    #[doc(hidden)]
    fn plan(self, report: &mut Report, context: Self::Context<'_>) -> Option<Self::Plan>;
}

/// A type whose published schema is compiled at its first request.
pub trait Shaped {
    /// Returns the shape of a body.
    #[doc(hidden)]
    fn shape() -> &'static Shape;
}

/// Reads and checks the body of a request.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_request<R: Request>(body: &[u8], context: R::Context<'_>) -> Result<Checked<R::Plan>, Rejection> {
    let (mut report, request) = read::<R>(body, &context)?;
    let plan = request.plan(&mut report, context);
    report.finish(plan)
}

/// The same as [`read_request`], but also returns the request, which is stored and checked again when the work starts or
/// resumes.
///
/// # Errors
/// The same as [`read_request`].
pub fn read_with_request<R: Request + Clone>(
    body: &[u8],
    context: R::Context<'_>,
) -> Result<Checked<(R, R::Plan)>, Rejection> {
    let (mut report, request) = read::<R>(body, &context)?;
    let plan = request.clone().plan(&mut report, context);
    report.finish(plan.map(|plan| (request, plan)))
}

/// Checks a typed request.
///
/// # Errors
/// [`Rejection`] lists every rule that the request breaks, or names the permission that the team lacks.
///
/// # Examples
///
/// ```
/// use websvc_types::SearchRequest;
/// use websvc_validate::{Policy, check_request};
///
/// let checked = check_request(&SearchRequest::new("asyncio gather"), &Policy::default())?;
/// assert_eq!(checked.plan.limit, 10);
/// assert!(checked.warnings.is_empty());
/// # Ok::<(), websvc_validate::Rejection>(())
/// ```
pub fn check_request<R: Request>(
    request: &R,
    context: R::Context<'_>,
) -> Result<Checked<R::Plan>, Rejection> {
    R::check_availability(&context)?;
    let mut report = Report::default();
    let plan = check_shape(&mut report, request)?.plan(&mut report, context);
    report.finish(plan)
}

/// Checks a typed request in the form in which it is sent, which has the ranges that its type does not have. Returns it
/// without the values that break them.
///
/// # Errors
/// The violations if nothing remains to be checked.
pub(crate) fn check_shape<R: Request>(report: &mut Report, request: &R) -> Result<R, Rejection> {
    let body = serde_json::to_vec(request).expect("the types of requests have only names as keys");
    R::from_body(deserialize_body(&body)?, report)
}

/// Reads a body that must be an object, and does not check its fields.
///
/// # Errors
/// [`Rejection`] has the syntax error, or the violation that the body is not an object.
pub fn read_object(body: &[u8]) -> Result<Map<String, Value>, Rejection> {
    check_values(body)?;
    match serde_json::from_slice(body).map_err(|error| malformed(&error))? {
        Value::Object(object) => Ok(object),
        _ => {
            let message = "the body must be an object".to_owned();
            let (path, code) = (String::new(), ViolationCode::InvalidType);
            Err(Rejection::Invalid(vec![Violation { path, code, message }]))
        }
    }
}

/// Reads a body as `R`, and returns it with the findings about its shape.
///
/// # Errors
/// The syntax error, or the violations if nothing remains to be checked.
fn read<R: Request>(body: &[u8], context: &R::Context<'_>) -> Result<(Report, R), Rejection> {
    R::check_availability(context)?;
    let mut report = Report::default();
    let body = match body.trim_ascii() {
        [] if R::MAY_BE_EMPTY => BodyValue::Object(Vec::new()),
        _ => parse(body, R::BYTES_PER_VALUE)?,
    };
    let request = R::from_body(body, &mut report)?;
    Ok((report, request))
}

/// Parses a body that has at least this many bytes for each value.
fn parse(body: &[u8], bytes_per_value: usize) -> Result<BodyValue<'_>, Rejection> {
    check_value_count(body, bytes_per_value)?;
    deserialize_body(body)
}

fn deserialize_body(body: &[u8]) -> Result<BodyValue<'_>, Rejection> {
    let parsed = match std::str::from_utf8(body) {
        // Checking UTF-8 once is several times as fast as checking each string.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(body),
    };
    parsed.map_err(|error| malformed(&error))
}

/// Converts a body to the request after its shape was checked.
pub(crate) fn deserialize<R: Request>(mut body: BodyValue<'_>, report: &mut Report) -> Result<R, Rejection> {
    if !R::shape().prune(&mut body, report) || report.is_full() {
        return Err(report
            .rejection()
            .expect("a body that is not an object has a violation, and a full report many"));
    }
    R::deserialize(body).map_err(|error| {
        // A bug: the schema and the type disagree. The caller gets the error of the type.
        report.violation(&Path::Root, ViolationCode::InvalidType, |_| error.to_string());
        report.rejection().expect("a violation was just added")
    })
}

fn malformed(error: &serde_json::Error) -> Rejection {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&position).unwrap_or(&text).to_owned();
    Rejection::Json { line: error.line(), column: error.column(), message }
}
