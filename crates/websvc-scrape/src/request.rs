//! The HTTP requests for pages and files: headers, languages, cookies, conditions.

use std::time::Duration;

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, COOKIE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    RANGE, USER_AGENT,
};
use http::{HeaderName, HeaderValue};
use url::Url;
use websvc_browser::Cookie;
use websvc_transport::{FetchError, FetchRequest, OversizePolicy, TlsPolicy};
use websvc_validate::ScrapePlan;

use crate::browse::CountryProfile;
use crate::error::ScrapeError;
use crate::raw::RawPage;

/// The default `User-Agent`; its product token is the one for robots.txt.
pub const DEFAULT_USER_AGENT: &str =
    concat!("Mozilla/5.0 (compatible; websvc/", env!("CARGO_PKG_VERSION"), ")");

/// The `User-Agent` of a plan with `mobile`.
const MOBILE_USER_AGENT: &str = concat!(
    "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 ",
    "(compatible; websvc/",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// The product token of websvc in a robots.txt (RFC 9309, section 2.2.1).
pub(crate) const ROBOTS_NAME: &str = "websvc";

const ACCEPTED_IMAGES: &str =
    "image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml,image/*;q=0.8";

/// The number of bytes of an image that are fetched: a JPEG may have a thumbnail and a color profile before its size.
const IMAGE_BYTES: u64 = 32 * 1024;

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The languages of the default location.
const DEFAULT_LANGUAGES: [&str; 2] = ["en-US", "en"];

/// The languages of the default location, as a header.
pub(crate) const DEFAULT_ACCEPT_LANGUAGE: &str = "en-US,en;q=0.9";

/// Returns the request for a page with the options of a plan.
pub(crate) fn page_request(
    url: &Url,
    plan: &ScrapePlan,
    timeout: Duration,
    max_bytes: u64,
) -> Result<FetchRequest, ScrapeError> {
    let mut request = plain(url, timeout, max_bytes);
    if plan.mobile {
        request.headers.insert(USER_AGENT, HeaderValue::from_static(MOBILE_USER_AGENT));
    }
    request.headers.insert(ACCEPT_LANGUAGE, accept_language(plan));
    for (name, value) in &plan.headers {
        let name: HeaderName = name.parse().map_err(|_| bad_header(name))?;
        let value = HeaderValue::from_str(value).map_err(|_| bad_header(name.as_str()))?;
        request.headers.insert(name, value);
    }
    request.tls = tls_policy(plan);
    Ok(request)
}

/// Returns the TLS policy of a plan, for its pages and for the files that are read for them.
#[must_use]
pub fn tls_policy(plan: &ScrapePlan) -> TlsPolicy {
    if plan.skip_tls_verification { TlsPolicy::SkipVerification } else { TlsPolicy::Verify }
}

/// Adds the cookies of a profile to a request, after those of the caller, which take precedence.
pub(crate) fn add_cookies(request: &mut FetchRequest, cookies: &[Cookie]) {
    let header = request.headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_set = |name: &str| {
        header.split(';').any(|pair| pair.split_once('=').is_some_and(|(given, _)| given.trim() == name))
    };
    let added = cookies.iter().filter(|cookie| !is_set(&cookie.name));
    let added = added.map(|Cookie { name, value }| format!("{name}={value}"));
    let all: Vec<String> = (!header.is_empty()).then(|| header.to_owned()).into_iter().chain(added).collect();
    // Cookies that the browser has stored are valid header values.
    if let Ok(value) = HeaderValue::from_str(&all.join("; "))
        && !all.is_empty()
    {
        request.headers.insert(COOKIE, value);
    }
}

/// Returns the request for a file with default options.
pub(crate) fn plain(url: &Url, timeout: Duration, max_bytes: u64) -> FetchRequest {
    let mut request = FetchRequest::get(url.clone());
    request.timeout = timeout;
    request.max_body_bytes = max_bytes;
    request.max_decoded_bytes = max_bytes;
    request.headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    request.headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(DEFAULT_ACCEPT_LANGUAGE));
    request
}

/// Returns the request for the first bytes of an image, which have its size.
pub(crate) fn for_image(url: &Url, timeout: Duration) -> FetchRequest {
    let mut request = plain(url, timeout, IMAGE_BYTES);
    request.oversize = OversizePolicy::Truncate;
    let last = IMAGE_BYTES - 1;
    let headers = [
        (ACCEPT, ACCEPTED_IMAGES.to_owned()),
        // A range counts encoded bytes, so the body must not be compressed.
        (ACCEPT_ENCODING, "identity".to_owned()),
        (RANGE, format!("bytes=0-{last}")),
    ];
    for (name, value) in headers {
        request.headers.insert(name, value.parse().expect("constant ASCII text is a valid header value"));
    }
    request
}

/// Makes a request conditional on a change of `cached`. Returns whether that is possible: `cached` was fetched without
/// redirects, is not truncated, and has a validator (RFC 9110, section 13.1).
pub(crate) fn add_conditional_headers(request: &mut FetchRequest, cached: &RawPage) -> bool {
    if cached.url != cached.source_url || cached.truncated {
        return false;
    }
    let mut is_conditional = false;
    for (validator, condition) in [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)] {
        if let Some(value) = cached.headers.get(validator) {
            request.headers.insert(condition, value.clone());
            is_conditional = true;
        }
    }
    is_conditional
}

/// Returns the `Accept-Language` header for the languages of the plan, the first one preferred; without any, for those
/// of a browser in its country.
pub(crate) fn accept_language(plan: &ScrapePlan) -> HeaderValue {
    let location = &plan.location;
    let of_country = CountryProfile::from_country(location.country).and_then(CountryProfile::languages);
    let of_country = of_country.unwrap_or_else(|| DEFAULT_LANGUAGES.map(str::to_owned));
    let languages = if location.languages.is_empty() { &of_country[..] } else { &location.languages };
    // A language tag consists of letters, digits and hyphens.
    HeaderValue::from_str(&weighted(languages))
        .unwrap_or_else(|_| HeaderValue::from_static(DEFAULT_ACCEPT_LANGUAGE))
}

fn weighted(languages: &[String]) -> String {
    let weighted = languages.iter().enumerate().map(|(position, language)| match position {
        0 => language.clone(),
        1..9 => format!("{language};q=0.{}", 10 - position),
        _ => format!("{language};q=0.1"),
    });
    weighted.collect::<Vec<_>>().join(",")
}

pub(crate) fn bad_header(name: &str) -> ScrapeError {
    ScrapeError::Fetch(FetchError::BadUrl { reason: format!("the header {name:?} cannot be sent") })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use websvc_transport::is_forbidden_header;
    use websvc_types::ScrapeOptions;
    use websvc_validate::{Policy, check_request};

    use super::*;

    #[test]
    fn accept_language_has_languages_of_plan_or_of_country() {
        for (location, expected) in [
            (serde_json::json!({}), DEFAULT_ACCEPT_LANGUAGE),
            (serde_json::json!({ "country": "de" }), "de-DE,de;q=0.9"),
            (serde_json::json!({ "country": "AQ" }), DEFAULT_ACCEPT_LANGUAGE),
            (serde_json::json!({ "country": "DE", "languages": ["fr", "en"] }), "fr,en;q=0.9"),
        ] {
            let location = serde_json::from_value(location).unwrap();
            let options = ScrapeOptions { location: Some(location), ..ScrapeOptions::default() };
            let plan = check_request(&options, &Policy::default()).unwrap().plan;
            assert_eq!(accept_language(&plan), expected);
        }
        let plain = plain(&"http://a.test/".parse().unwrap(), Duration::ZERO, 0);
        assert_eq!(plain.headers[ACCEPT_LANGUAGE], DEFAULT_ACCEPT_LANGUAGE, "as a page with default options");
    }

    #[test]
    fn profile_cookies_follow_caller_cookies() {
        let check = |given: Option<&'static str>, names: &[&str], expected: Option<&str>| {
            let mut request = plain(&"http://a.test/".parse().unwrap(), Duration::ZERO, 0);
            request.headers.extend(given.map(|given| (COOKIE, HeaderValue::from_static(given))));
            let cookies: Vec<_> = names
                .iter()
                .map(|name| Cookie { name: (*name).to_owned(), value: "profile".to_owned() })
                .collect();
            add_cookies(&mut request, &cookies);
            assert_eq!(request.headers.get(COOKIE).map(|value| value.to_str().unwrap()), expected);
        };
        check(None, &[], None);
        check(None, &["a", "b"], Some("a=profile; b=profile"));
        check(Some("b=caller"), &["a", "b"], Some("b=caller; a=profile"));
    }

    /// Compares the lists of forbidden headers of the validator and of the client, which must not depend on each other.
    #[test]
    fn validator_and_client_forbid_the_same_headers() {
        for name in [
            "connection",
            "content-length",
            "Expect",
            "Host",
            "http2-settings",
            "keep-alive",
            "metadata",
            "Metadata-Flavor",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "x-google-metadata-request",
            "proxy-authorization",
            "proxy-x",
            "x-aws-ec2-metadata-token",
            "accept",
            "authorization",
            "cookie",
            "hosts",
            "metadata2",
            "proxy",
            "range",
            "referer",
            "te2",
            "user-agent",
            "x-forwarded-for",
        ] {
            let headers = BTreeMap::from([(name.to_owned(), "x".to_owned())]);
            let options = ScrapeOptions { headers: Some(headers), ..ScrapeOptions::default() };
            let is_rejected = check_request(&options, &Policy::default()).is_err();
            assert_eq!(
                is_rejected,
                is_forbidden_header(&name.to_ascii_lowercase().parse().unwrap()),
                "{name}"
            );
        }
    }
}
