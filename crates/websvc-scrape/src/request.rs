//! What a page is asked for with.

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

/// How websvc calls itself: its name is what a robots.txt speaks to.
pub const DEFAULT_USER_AGENT: &str =
    concat!("Mozilla/5.0 (compatible; websvc/", env!("CARGO_PKG_VERSION"), ")");

/// How websvc calls itself when a page for small screens is wanted.
const MOBILE_USER_AGENT: &str = concat!(
    "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 ",
    "(compatible; websvc/",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// The name by which a robots.txt addresses us.
pub(crate) const ROBOTS_NAME: &str = "websvc";

const ACCEPTED_IMAGES: &str =
    "image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml,image/*;q=0.8";

/// As much of an image is fetched: its size stands behind the preview and the colours that a JPEG may begin with.
const IMAGE_BYTES: u64 = 32 * 1024;

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The languages of the default location.
const DEFAULT_LANGUAGES: [&str; 2] = ["en-US", "en"];

/// The languages of the default location, as a header.
pub(crate) const DEFAULT_ACCEPT_LANGUAGE: &str = "en-US,en;q=0.9";

/// Returns the request for a page as a plan wants it.
pub(crate) fn page_request(
    url: &Url,
    plan: &ScrapePlan,
    timeout: Duration,
    max_bytes: u64,
) -> Result<FetchRequest, ScrapeError> {
    let mut request = plain(url, timeout, max_bytes);
    if plan.mobile() {
        request.headers.insert(USER_AGENT, HeaderValue::from_static(MOBILE_USER_AGENT));
    }
    request.headers.insert(ACCEPT_LANGUAGE, accept_language(plan));
    for (name, value) in plan.headers() {
        let name: HeaderName = name.parse().map_err(|_| bad_header(name))?;
        let value = HeaderValue::from_str(value).map_err(|_| bad_header(name.as_str()))?;
        request.headers.insert(name, value);
    }
    request.tls = tls_policy(plan);
    Ok(request)
}

/// Returns what a plan says of certificates that cannot be verified: of those of its pages, and of what is read for them.
#[must_use]
pub fn tls_policy(plan: &ScrapePlan) -> TlsPolicy {
    if plan.skip_tls_verification() { TlsPolicy::SkipVerification } else { TlsPolicy::Verify }
}

/// Adds the cookies of a profile to a request, behind those of the caller, whose own win.
pub(crate) fn add_cookies(request: &mut FetchRequest, cookies: &[Cookie]) {
    let given = request.headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_given = |name: &str| {
        given.split(';').any(|pair| pair.split_once('=').is_some_and(|(given, _)| given.trim() == name))
    };
    let ours = cookies.iter().filter(|cookie| !is_given(&cookie.name));
    let ours = ours.map(|Cookie { name, value }| format!("{name}={value}"));
    let all: Vec<String> = (!given.is_empty()).then(|| given.to_owned()).into_iter().chain(ours).collect();
    // Cookies that a browser has taken can be sent.
    if let Ok(value) = HeaderValue::from_str(&all.join("; "))
        && !all.is_empty()
    {
        request.headers.insert(COOKIE, value);
    }
}

/// Returns the request for a file that nobody has wishes about.
pub(crate) fn plain(url: &Url, timeout: Duration, max_bytes: u64) -> FetchRequest {
    let mut request = FetchRequest::get(url.clone());
    request.timeout = timeout;
    request.max_body_bytes = max_bytes;
    request.max_decoded_bytes = max_bytes;
    request.headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    request.headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(DEFAULT_ACCEPT_LANGUAGE));
    request
}

/// Returns the request for the beginning of an image: what tells its size is there.
pub(crate) fn for_image(url: &Url, timeout: Duration) -> FetchRequest {
    let mut request = plain(url, timeout, IMAGE_BYTES);
    request.excess = OversizePolicy::Cut;
    let last = IMAGE_BYTES - 1;
    let headers = [
        (ACCEPT, ACCEPTED_IMAGES.to_owned()),
        // A range counts in the bytes that are sent, so that they are not to be packed.
        (ACCEPT_ENCODING, "identity".to_owned()),
        (RANGE, format!("bytes=0-{last}")),
    ];
    for (name, value) in headers {
        request.headers.insert(name, value.parse().expect("plain words are a header value"));
    }
    request
}

/// Makes a request ask only for what has changed since `known` was fetched. Returns whether that can be asked: `known`
/// was answered under its own URL, whole, and its host gave it a validator (RFC 9110, section 13.1).
pub(crate) fn add_conditional_headers(request: &mut FetchRequest, known: &RawPage) -> bool {
    if known.url != known.source_url || known.truncated {
        return false;
    }
    let mut asked = false;
    for (validator, condition) in [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)] {
        if let Some(value) = known.headers.get(validator) {
            request.headers.insert(condition, value.clone());
            asked = true;
        }
    }
    asked
}

/// Returns the languages of the plan as a header, the first one preferred; without any, those of its country, as a
/// browser there has them.
pub(crate) fn accept_language(plan: &ScrapePlan) -> HeaderValue {
    let location = plan.location();
    let own = CountryProfile::of(location.country()).and_then(CountryProfile::languages);
    let own = own.unwrap_or_else(|| DEFAULT_LANGUAGES.map(str::to_owned));
    let languages = if location.languages().is_empty() { &own[..] } else { location.languages() };
    // Languages are letters, digits and hyphens.
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
    use websvc_validate::{Policy, check_scrape_options};

    use super::*;

    #[test]
    fn a_page_is_asked_for_in_the_languages_of_the_plan_or_of_its_country() {
        for (location, expected) in [
            (serde_json::json!({}), DEFAULT_ACCEPT_LANGUAGE),
            (serde_json::json!({ "country": "de" }), "de-DE,de;q=0.9"),
            (serde_json::json!({ "country": "AQ" }), DEFAULT_ACCEPT_LANGUAGE),
            (serde_json::json!({ "country": "DE", "languages": ["fr", "en"] }), "fr,en;q=0.9"),
        ] {
            let location = serde_json::from_value(location).unwrap();
            let options = ScrapeOptions { location: Some(location), ..ScrapeOptions::default() };
            let plan = check_scrape_options(options, &Policy::default()).unwrap().plan;
            assert_eq!(accept_language(&plan), expected);
        }
        let plain = plain(&"http://a.test/".parse().unwrap(), Duration::ZERO, 0);
        assert_eq!(plain.headers[ACCEPT_LANGUAGE], DEFAULT_ACCEPT_LANGUAGE, "as a page without wishes");
    }

    #[test]
    fn cookies_of_a_profile_stand_behind_those_of_the_caller() {
        let check = |given: Option<&'static str>, names: &[&str], expected: Option<&str>| {
            let mut request = plain(&"http://a.test/".parse().unwrap(), Duration::ZERO, 0);
            request.headers.extend(given.map(|given| (COOKIE, HeaderValue::from_static(given))));
            let cookies: Vec<_> = names
                .iter()
                .map(|name| Cookie { name: (*name).to_owned(), value: "own".to_owned() })
                .collect();
            add_cookies(&mut request, &cookies);
            assert_eq!(request.headers.get(COOKIE).map(|value| value.to_str().unwrap()), expected);
        };
        check(None, &[], None);
        check(None, &["a", "b"], Some("a=own; b=own"));
        check(Some("b=caller"), &["a", "b"], Some("b=caller; a=own"));
    }

    /// The validator and the client have a list each, because neither may depend on the other.
    #[test]
    fn a_header_that_cannot_be_sent_is_refused_when_it_is_asked_for() {
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
            let refused = check_scrape_options(options, &Policy::default()).is_err();
            assert_eq!(refused, is_forbidden_header(&name.to_ascii_lowercase().parse().unwrap()), "{name}");
        }
    }
}
