//! Tracking parameters: parts of a URL that identify a visit or its origin, never a page.

use url::Url;

/// Parameters of campaigns, advertisements and newsletters, except those that start with `utm_`.
const CAMPAIGN: &[&str] = &[
    "_ga", "_gl", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "msclkid",
    "ttclid", "twclid", "wbraid", "yclid",
];

/// Parameters that always are session IDs.
const SESSION: &[&str] =
    &["cfid", "cftoken", "jsessionid", "phpsessid", "sessid", "session_id", "sessionid", "zenid"];

/// Parameters that are a session ID on some sites and the number of an article or a section on others. Their value
/// decides.
const AMBIGUOUS: &[&str] = &["s_id", "sid"];

/// Minimum length of a session ID, in bytes. Numbers of articles are shorter.
const SESSION_MIN_BYTES: usize = 20;

/// Removes session IDs, campaign parameters and the fragment from a URL. Changes nothing else, so that the host
/// understands the URL.
///
/// ```
/// use websvc_site::strip_tracking_params;
///
/// let url = "https://shop.test/tea?id=7&utm_source=mail#reviews".parse()?;
/// assert_eq!(strip_tracking_params(url).as_str(), "https://shop.test/tea?id=7");
/// # Ok::<(), url::ParseError>(())
/// ```
pub fn strip_tracking_params(mut url: Url) -> Url {
    url.set_fragment(None);
    if let Some(end) = session_in_path(url.path()) {
        url = truncate_path(&url, end);
    }
    let Some(query) = url.query() else { return url };
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_tracking_param(parameter)).collect();
    if kept.len() < query.split('&').count() {
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(kept.as_str()));
    }
    url
}

/// Returns the URL with only the first `end` bytes of its path.
pub(crate) fn truncate_path(url: &Url, end: usize) -> Url {
    let mut url = url.clone();
    let path = url.path()[..end].to_owned();
    url.set_path(&path);
    url
}

/// Returns the position of a session ID of Java servers in a path.
pub(crate) fn session_in_path(path: &str) -> Option<usize> {
    path.to_ascii_lowercase().find(";jsessionid=")
}

/// Returns whether a `name=value` of a query is a session ID or a campaign parameter.
pub(crate) fn is_tracking_param(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    name.starts_with("utm_")
        || name.starts_with("aspsessionid")
        || CAMPAIGN.contains(&name)
        || SESSION.contains(&name)
        || (AMBIGUOUS.contains(&name) && is_session(value))
}

/// Returns whether a value can be a session ID: long, only letters and digits, at least one digit.
fn is_session(value: &str) -> bool {
    value.len() >= SESSION_MIN_BYTES
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}
