//! Conversion of a scrape plan to a [`RenderRequest`] of the browser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;
use websvc_browser::{
    CharsetRule, Cookie, Device, Direction, Extent, Geolocation, Locale, Matches, Orientation, Paper, Print,
    RenderRequest, Screenshot, Step, Viewport,
};
use websvc_extract::undeclared_charset;
use websvc_transport::Proxy;
use websvc_types::action::{self, Click, ExecuteJavascript, Pdf, Press, Scroll, Wait, Write};
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{Action, Format, format};
use websvc_validate::{LocationPlan, ScrapePlan};

use super::country_profile::CountryProfile;
use super::render_mode::wants_branding;
use crate::error::ScrapeError;
use crate::request::{bad_header, tls_policy};

/// Returns the request to render a page with the options of a plan.
pub(crate) fn render_request(
    url: &Url,
    plan: &ScrapePlan,
    proxy: Option<Proxy>,
    deadline: Instant,
) -> Result<RenderRequest, ScrapeError> {
    let mut request = RenderRequest::new(url.clone(), deadline.into());
    request.headers = headers(plan)?;
    request.cookies = cookies(&mut request.headers);
    request.device = if plan.mobile { Device::Mobile } else { Device::Desktop };
    request.locale = locale(&plan.location);
    request.tls = tls_policy(plan);
    request.proxy = proxy;
    request.wait_for = plan.wait_for;
    request.steps = plan.actions.iter().map(step).collect();
    request.reads_styles = wants_branding(plan);
    request.charset_rule = Some(CharsetRule(Arc::new(undeclared_charset)));
    request.screenshot = plan.formats.iter().find_map(|format| match format {
        Format::Screenshot(options) => Some(screenshot(options)),
        _ => None,
    });
    Ok(request)
}

/// Returns the part of the cache key that has the options of the plan that change the rendered page.
pub(crate) fn cache_variant(plan: &ScrapePlan) -> String {
    let mut variant = "rendered;".to_owned();
    if !plan.wait_for.is_zero() {
        variant.push_str(&format!("wait={};", plan.wait_for.as_millis()));
    }
    if plan.location.country != COUNTRY_DEFAULT {
        variant.push_str(&format!("in={};", plan.location.country));
    }
    if !plan.block_ads {
        variant.push_str("ads;");
    }
    variant
}

fn headers(plan: &ScrapePlan) -> Result<HeaderMap, ScrapeError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &plan.headers {
        let parsed: HeaderName = name.parse().map_err(|_| bad_header(name))?;
        headers.insert(parsed, HeaderValue::from_str(value).map_err(|_| bad_header(name))?);
    }
    Ok(headers)
}

/// Moves the cookies out of the headers: the browser sends those of its cookie store.
fn cookies(headers: &mut HeaderMap) -> Vec<Cookie> {
    let Some(value) = headers.remove(COOKIE) else { return Vec::new() };
    let pairs = value.to_str().unwrap_or_default().split(';').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| Cookie { name: name.trim().to_owned(), value: value.trim().to_owned() })
        .collect()
}

/// Returns the locale of a browser in this location. The languages are the requested ones, else those of the country.
fn locale(location: &LocationPlan) -> Locale {
    let country = CountryProfile::from_country(location.country);
    let languages = match location.languages.as_slice() {
        [] => country.and_then(CountryProfile::languages).into_iter().flatten().collect(),
        requested => requested.to_vec(),
    };
    Locale {
        formats: languages.first().cloned(),
        languages,
        timezone: country.map(|country| country.capital.timezone.to_owned()),
        geolocation: country.map(|country| Geolocation {
            latitude: f64::from(country.capital.latitude),
            longitude: f64::from(country.capital.longitude),
        }),
    }
}

fn step(action: &Action) -> Step {
    match action {
        Action::Wait(Wait { milliseconds, selector }) => match selector {
            Some(selector) => Step::WaitFor(selector.clone()),
            None => Step::Wait(Duration::from_millis(milliseconds.unwrap_or_default())),
        },
        Action::Screenshot(options) => Step::Screenshot(screenshot(options)),
        Action::Click(Click { selector, all }) => Step::Click {
            selector: selector.clone(),
            matches: if all.unwrap_or(false) { Matches::All } else { Matches::First },
        },
        Action::Write(Write { text }) => Step::Write(text.clone()),
        Action::Press(Press { key }) => Step::Press(key.clone()),
        Action::Scroll(Scroll { direction, selector }) => Step::Scroll {
            direction: match direction {
                Some(action::Direction::Up) => Direction::Up,
                Some(action::Direction::Down) | None => Direction::Down,
            },
            selector: selector.clone(),
        },
        Action::Scrape(action::Scrape {}) => Step::Scrape,
        Action::ExecuteJavascript(ExecuteJavascript { script }) => Step::Script(script.clone()),
        Action::Pdf(pdf) => Step::Print(print(pdf)),
    }
}

fn screenshot(options: &format::Screenshot) -> Screenshot {
    let format::Screenshot { full_page, quality, viewport } = options;
    Screenshot {
        extent: if full_page.unwrap_or(false) { Extent::FullPage } else { Extent::Window },
        quality: *quality,
        viewport: viewport
            .as_ref()
            .map(|viewport| Viewport { width: viewport.width, height: viewport.height }),
    }
}

fn print(pdf: &Pdf) -> Print {
    let Pdf { format, landscape, scale } = pdf;
    Print {
        paper: format.map_or(Paper::Letter, paper),
        orientation: if landscape.unwrap_or(false) { Orientation::Landscape } else { Orientation::Portrait },
        scale: scale.unwrap_or(1.0),
    }
}

fn paper(paper: action::PaperFormat) -> Paper {
    match paper {
        action::PaperFormat::A0 => Paper::A0,
        action::PaperFormat::A1 => Paper::A1,
        action::PaperFormat::A2 => Paper::A2,
        action::PaperFormat::A3 => Paper::A3,
        action::PaperFormat::A4 => Paper::A4,
        action::PaperFormat::A5 => Paper::A5,
        action::PaperFormat::A6 => Paper::A6,
        action::PaperFormat::Letter => Paper::Letter,
        action::PaperFormat::Legal => Paper::Legal,
        action::PaperFormat::Tabloid => Paper::Tabloid,
        action::PaperFormat::Ledger => Paper::Ledger,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::ScrapeOptions;
    use websvc_validate::{Policy, read_request};

    use super::*;

    fn to_request(options: &Value) -> RenderRequest {
        let read = read_request::<ScrapeOptions>(options.to_string().as_bytes(), &Policy::default());
        let url = "https://a.test/".parse().unwrap();
        render_request(&url, &read.unwrap().plan, None, Instant::now()).unwrap()
    }

    #[test]
    fn caller_cookies_move_from_headers_to_browser() {
        let request = to_request(&json!({"headers": {"Cookie": "a=1; b=x=y ;c=", "X-Key": "k"}}));
        let pairs: Vec<_> =
            request.cookies.iter().map(|cookie| (cookie.name.as_str(), cookie.value.as_str())).collect();
        assert_eq!(pairs, [("a", "1"), ("b", "x=y"), ("c", "")]);
        let names: Vec<_> = request.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-key"]);
    }

    #[test]
    fn country_sets_languages_unless_requested_otherwise() {
        let locale_of = |options| to_request(&options).locale;
        let germany = locale_of(json!({"location": {"country": "DE"}}));
        assert_eq!(
            (germany.languages, germany.formats),
            (vec!["de-DE".to_owned(), "de".to_owned()], Some("de-DE".to_owned()))
        );
        let french = locale_of(json!({"location": {"country": "DE", "languages": ["fr", "en"]}}));
        assert_eq!(french.languages, ["fr", "en"]);
        assert_eq!(french.timezone.as_deref(), Some("Europe/Berlin"));
        assert_eq!(locale_of(json!({})).timezone.as_deref(), Some("America/New_York"));
    }

    #[test]
    fn cache_variant_has_each_option_that_changes_rendering() {
        let variant = |options: Value| {
            let read = read_request::<ScrapeOptions>(options.to_string().as_bytes(), &Policy::default());
            cache_variant(&read.unwrap().plan)
        };
        let variants = [
            variant(json!({})),
            variant(json!({"waitFor": 5})),
            variant(json!({"location": {"country": "DE"}})),
            variant(json!({"blockAds": false})),
        ];
        assert_eq!(variants, ["rendered;", "rendered;wait=5;", "rendered;in=DE;", "rendered;ads;"]);
    }
}
