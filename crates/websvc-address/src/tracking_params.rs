//! Tracking parameters: parts of a URL that identify a visit or its origin, never a page.

use url::Url;

/// Parameters of campaigns, advertisements and mailings. All begin with `utm_` are meant too.
const CAMPAIGN: &[&str] = &[
    "_ga", "_gl", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "msclkid",
    "ttclid", "twclid", "wbraid", "yclid",
];

/// Parameters that can only be the name of a session.
const SESSION: &[&str] =
    &["cfid", "cftoken", "jsessionid", "phpsessid", "sessid", "session_id", "sessionid", "zenid"];

/// Parameters that are a session on some sites and the number of a story or a section on others: their value decides.
const PERHAPS_SESSION: &[&str] = &["s_id", "sid"];

/// Session ids are at least so long; numbers of stories are shorter.
const MIN_SESSION_CHARS: usize = 20;

/// Takes out of a URL what names a visit rather than a page: session ids, campaign parameters, and the fragment. What
/// remains is as it was written, so that its host understands it.
pub fn strip_tracking_params(mut url: Url) -> Url {
    url.set_fragment(None);
    if let Some(at) = session_in_path(url.path()) {
        url = cut(&url, at);
    }
    let Some(query) = url.query() else { return url };
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_tracking_param(parameter)).collect();
    if kept.len() < query.split('&').count() {
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(kept.as_str()));
    }
    url
}

/// Returns the URL with so much of its path only.
pub(crate) fn cut(url: &Url, at: usize) -> Url {
    let mut url = url.clone();
    let path = url.path()[..at].to_owned();
    url.set_path(&path);
    url
}

/// Returns where in a path a session id of Java servers begins.
pub(crate) fn session_in_path(path: &str) -> Option<usize> {
    path.to_ascii_lowercase().find(";jsessionid=")
}

/// Tells whether a `name=value` of a query names a visit.
pub(crate) fn is_tracking_param(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    name.starts_with("utm_")
        || name.starts_with("aspsessionid")
        || CAMPAIGN.contains(&name)
        || SESSION.contains(&name)
        || (PERHAPS_SESSION.contains(&name) && is_session(value))
}

/// Tells whether a value is long and random enough for a session: letters and digits without a break.
fn is_session(value: &str) -> bool {
    value.len() >= MIN_SESSION_CHARS
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}
