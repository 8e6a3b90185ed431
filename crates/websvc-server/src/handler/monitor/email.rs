//! `/v2/monitor/email/confirm` and `/v2/monitor/email/unsubscribe`: the links in emails about monitors.
//!
//! Programs send the token as JSON. People open the link, which shows a page with a button and changes nothing: mail
//! scanners open links, too. The button sends a form to the same address, as mail programs do that unsubscribe with one
//! click (RFC 8058).

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use websvc_monitor::LinkRecipient;
use websvc_notify::escape;
use websvc_store::{KeyScope, LinkAction};
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::limits::{EMAIL_TOKEN_MAX_CHARS, EMAIL_TOKEN_MIN_CHARS};
use websvc_types::monitor::{MonitorEmailRequest, MonitorEmailResponse, MonitorEmailResult};
use websvc_validate::{Checked, Rejection, read_request};

use crate::handler::declares_form;
use crate::response::{ApiError, HttpResponse, json, with_type};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

/// The policy of the pages: nothing is loaded, and the form goes to this service.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

const STYLE: &str = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;\
                     color-scheme:light dark}button{font:inherit;padding:.5rem 1.25rem;cursor:pointer}\
                     bdi{font-weight:600;overflow-wrap:anywhere}";

/// The paths of the links.
pub(crate) const CONFIRM: &str = "/v2/monitor/email/confirm";
pub(crate) const UNSUBSCRIBE: &str = "/v2/monitor/email/unsubscribe";

/// The token is the permission, because people follow these links without a key.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    link(Endpoint::get(
        CONFIRM,
        OperationGroup::Monitor,
        handler!(|context, request| page(&context, &request, LinkAction::Confirm).await),
    ))
    .name("monitor-email-page"),
    link(Endpoint::post(
        CONFIRM,
        OperationGroup::Monitor,
        handler!(|context, request| follow(&context, request, LinkAction::Confirm).await),
    ))
    .name("monitor-email-confirm")
    .body(RequestBody::TOKEN),
    link(Endpoint::get(
        UNSUBSCRIBE,
        OperationGroup::Monitor,
        handler!(|context, request| page(&context, &request, LinkAction::Unsubscribe).await),
    ))
    .name("monitor-email-page"),
    link(Endpoint::post(
        UNSUBSCRIBE,
        OperationGroup::Monitor,
        handler!(|context, request| follow(&context, request, LinkAction::Unsubscribe).await),
    ))
    .name("monitor-email-unsubscribe")
    .body(RequestBody::TOKEN),
];

const fn link(endpoint: Endpoint) -> Endpoint {
    endpoint.scope(KeyScope::Monitor).public()
}

/// Responds with the page of a link. Changes nothing.
///
/// # Errors
/// Failures of the database.
async fn page(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
    action: LinkAction,
) -> Result<HttpResponse, ApiError> {
    let token = query_token(request.uri().query());
    if !is_token(&token) {
        return Ok(invalid_page());
    }
    let found = context.state.monitors.link_recipient(action, &token).await?;
    Ok(found.map_or_else(unknown_page, |recipient| question_page(action, &recipient)))
}

/// Follows a link: by a form with a page as the response, or by JSON.
///
/// # Errors
/// 400 for an invalid token and 404 for an unknown one, if the body is JSON.
async fn follow(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
    action: LinkAction,
) -> Result<HttpResponse, ApiError> {
    if let Some(form) = FormKind::from_headers(request.headers()) {
        return follow_by_form(context, request, form, action).await;
    }
    let body = crate::handler::read_body(request)?;
    let Checked { plan: request, warnings: _ } =
        read_request::<MonitorEmailRequest>(&body, ()).map_err(invalid_token)?;
    let found = context.state.monitors.follow_link(action, &request.token).await?;
    let Some(LinkRecipient { email, monitor_name }) = found else {
        return Err(ApiError::new(ErrorCode::NotFound, "not_found"));
    };
    let result = match action {
        LinkAction::Confirm => MonitorEmailResult::Confirmed,
        LinkAction::Unsubscribe => MonitorEmailResult::Unsubscribed,
    };
    Ok(json(StatusCode::OK, &MonitorEmailResponse { success: true, result, email, monitor_name }))
}

/// Returns the error of a body whose token is missing or invalid. Programs compare its text (operations.md, section 3.1).
fn invalid_token(rejection: Rejection) -> ApiError {
    match rejection {
        Rejection::Invalid(_) => ApiError::new(ErrorCode::BadRequest, "invalid_token"),
        rejection @ (Rejection::Json { .. } | Rejection::Forbidden { .. } | Rejection::Exhausted { .. }) => {
            ApiError::from(rejection)
        }
    }
}

/// The encoding of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormKind {
    UrlEncoded,
    /// Its token is in the address.
    Multipart,
}

impl FormKind {
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        if declares_form(headers) {
            return Some(Self::UrlEncoded);
        }
        let declared = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let essence = declared.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("multipart/form-data").then_some(Self::Multipart)
    }
}

async fn follow_by_form(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
    form: FormKind,
    action: LinkAction,
) -> Result<HttpResponse, ApiError> {
    let in_address = query_token(request.uri().query());
    let body = request.into_body().into_received();
    let token = match form {
        FormKind::UrlEncoded if in_address.is_empty() => form_token(&body),
        FormKind::UrlEncoded | FormKind::Multipart => in_address,
    };
    if !is_token(&token) {
        return Ok(invalid_page());
    }
    let found = context.state.monitors.follow_link(action, &token).await?;
    Ok(found.map_or_else(unknown_page, |recipient| done_page(action, &recipient)))
}

fn query_token(query: Option<&str>) -> String {
    form_token(query.unwrap_or_default().as_bytes())
}

/// Returns the token of a form; empty if it has none.
fn form_token(form: &[u8]) -> String {
    let mut pairs = url::form_urlencoded::parse(form);
    pairs.find_map(|(name, value)| (name == "token").then(|| value.into_owned())).unwrap_or_default()
}

fn is_token(token: &str) -> bool {
    let chars = token.chars().take(EMAIL_TOKEN_MAX_CHARS as usize + 1).count();
    (EMAIL_TOKEN_MIN_CHARS as usize..=EMAIL_TOKEN_MAX_CHARS as usize).contains(&chars)
}

fn question_page(action: LinkAction, recipient: &LinkRecipient) -> HttpResponse {
    let (email, monitor) = names(recipient);
    let (title, text, button) = match action {
        LinkAction::Confirm => (
            "Confirm your address",
            format!("<p>Do you want emails to {email} about the monitor {monitor}?</p>"),
            "Send me emails",
        ),
        LinkAction::Unsubscribe => (
            "Unsubscribe",
            format!("<p>Do you want no more emails to {email} about the monitor {monitor}?</p>"),
            "Unsubscribe",
        ),
    };
    // Without an action, the form goes to the address of this page, with its token.
    let form = format!(
        "{text}<form method=\"post\"><input type=\"hidden\" name=\"List-Unsubscribe\" value=\"One-Click\">\
         <button type=\"submit\">{button}</button></form>"
    );
    html(StatusCode::OK, title, &form)
}

fn done_page(action: LinkAction, recipient: &LinkRecipient) -> HttpResponse {
    let (email, monitor) = names(recipient);
    let (title, text) = match action {
        LinkAction::Confirm => {
            ("Confirmed", format!("<p>{email} gets emails about the monitor {monitor} from now on.</p>"))
        }
        LinkAction::Unsubscribe => {
            ("Unsubscribed", format!("<p>{email} gets no more emails about the monitor {monitor}.</p>"))
        }
    };
    html(StatusCode::OK, title, &text)
}

fn unknown_page() -> HttpResponse {
    let text =
        "<p>The monitor or the recipient no longer exists. No emails are sent because of this link.</p>";
    html(StatusCode::NOT_FOUND, "This link is no longer valid", text)
}

fn invalid_page() -> HttpResponse {
    let text = "<p>The address is not complete. Open the link of the email again.</p>";
    html(StatusCode::BAD_REQUEST, "This link is not valid", text)
}

/// Returns the address and the name of the monitor as HTML.
fn names(recipient: &LinkRecipient) -> (String, String) {
    let LinkRecipient { email, monitor_name } = recipient;
    (format!("<bdi>{}</bdi>", escape(email)), format!("<bdi>{}</bdi>", escape(monitor_name)))
}

fn html(status: StatusCode, title: &str, content: &str) -> HttpResponse {
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"robots\" content=\"noindex\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>{content}</main></body></html>\n"
    );
    let mut response = with_type(status, "text/html; charset=utf-8", Body::from(page.into_bytes()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The address contains the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_is_recognized_by_its_media_type() {
        let check = |media_type: &'static str, expected| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]);
            assert_eq!(FormKind::from_headers(&headers), expected, "{media_type}");
        };
        check("application/x-www-form-urlencoded", Some(FormKind::UrlEncoded));
        check("Application/X-WWW-Form-URLencoded; charset=utf-8", Some(FormKind::UrlEncoded));
        check("multipart/form-data; boundary=x", Some(FormKind::Multipart));
        check("application/json", None);
        assert_eq!(FormKind::from_headers(&HeaderMap::new()), None);
    }

    #[test]
    fn token_is_read_from_a_query_or_a_form() {
        assert_eq!(query_token(Some("a=b&token=0123456789abcdef")), "0123456789abcdef");
        assert_eq!(form_token(b"List-Unsubscribe=One-Click"), "");
        assert_eq!(query_token(None), "");
        for (token, is_valid) in [("a", false), ("0123456789abcdef", true)] {
            assert_eq!(is_token(token), is_valid);
        }
        assert!(!is_token(&"a".repeat(65)));
    }

    #[test]
    fn name_of_a_monitor_is_escaped() {
        let recipient =
            LinkRecipient { email: "anna@tea.test".to_owned(), monitor_name: "<script>\"'&".to_owned() };
        assert_eq!(names(&recipient).1, "<bdi>&lt;script&gt;&quot;&#39;&amp;</bdi>");
    }
}
