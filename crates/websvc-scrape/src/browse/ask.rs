//! What a browser is asked for: the plan of a page in the words of the browser.

use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;
use websvc_browser::{
    Device, Direction, Extent, Geolocation, Locale, Matches, Orientation, PageRequest, Paper, Print,
    Screenshot, Step, Viewport,
};
use websvc_transport::{Proxy, TlsPolicy};
use websvc_types::action::{self, Click, ExecuteJavascript, Pdf, Press, Scroll, Wait, Write};
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{Action, Format, format};
use websvc_validate::{LocationPlan, ScrapePlan};

use super::places::Place;
use crate::error::ScrapeError;
use crate::request::bad_header;

/// Returns the request for a page as a plan wants it.
pub(crate) fn page_request(
    url: &Url,
    plan: &ScrapePlan,
    proxy: Option<Proxy>,
    deadline: Instant,
) -> Result<PageRequest, ScrapeError> {
    let mut request = PageRequest::new(url.clone(), deadline.into());
    request.headers = headers(plan)?;
    request.device = if plan.mobile() { Device::Mobile } else { Device::Desktop };
    request.locale = locale(plan.location());
    request.tls = if plan.skip_tls_verification() { TlsPolicy::SkipVerification } else { TlsPolicy::Verify };
    request.proxy = proxy;
    request.wait_for = plan.wait_for();
    request.steps = plan.actions().iter().map(step).collect();
    request.screenshot = plan.formats().iter().find_map(|format| match format {
        Format::Screenshot(wanted) => Some(screenshot(wanted)),
        _ => None,
    });
    Ok(request)
}

/// Returns what of the plan changes how a browser draws the page, for its name in the cache.
pub(crate) fn variant(plan: &ScrapePlan) -> String {
    let mut variant = "drawn;".to_owned();
    if !plan.wait_for().is_zero() {
        variant.push_str(&format!("wait={};", plan.wait_for().as_millis()));
    }
    if plan.location().country() != COUNTRY_DEFAULT {
        variant.push_str(&format!("in={};", plan.location().country()));
    }
    if !plan.block_ads() {
        variant.push_str("ads;");
    }
    variant
}

fn headers(plan: &ScrapePlan) -> Result<HeaderMap, ScrapeError> {
    let mut headers = HeaderMap::new();
    for (name, value) in plan.headers() {
        let parsed: HeaderName = name.parse().map_err(|_| bad_header(name))?;
        headers.insert(parsed, HeaderValue::from_str(value).map_err(|_| bad_header(name))?);
    }
    Ok(headers)
}

/// Returns what a browser in this place says of itself. The languages are those that were asked for, else those of
/// the country.
fn locale(location: &LocationPlan) -> Locale {
    let place = Place::of(location.country());
    let own = place.map(Place::locale);
    let languages = match location.languages() {
        [] => own.iter().cloned().collect(),
        asked => asked.to_vec(),
    };
    Locale {
        formats: languages.first().cloned(),
        languages,
        timezone: place.map(|place| place.timezone.to_owned()),
        geolocation: place.map(|place| Geolocation {
            latitude: f64::from(place.latitude),
            longitude: f64::from(place.longitude),
        }),
    }
}

fn step(action: &Action) -> Step {
    match action {
        Action::Wait(Wait { milliseconds, selector }) => match selector {
            Some(selector) => Step::WaitFor(selector.clone()),
            None => Step::Wait(Duration::from_millis(milliseconds.unwrap_or_default())),
        },
        Action::Screenshot(wanted) => Step::Screenshot(screenshot(wanted)),
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

fn screenshot(wanted: &format::Screenshot) -> Screenshot {
    let format::Screenshot { full_page, quality, viewport } = wanted;
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

fn paper(paper: action::Paper) -> Paper {
    match paper {
        action::Paper::A0 => Paper::A0,
        action::Paper::A1 => Paper::A1,
        action::Paper::A2 => Paper::A2,
        action::Paper::A3 => Paper::A3,
        action::Paper::A4 => Paper::A4,
        action::Paper::A5 => Paper::A5,
        action::Paper::A6 => Paper::A6,
        action::Paper::Letter => Paper::Letter,
        action::Paper::Legal => Paper::Legal,
        action::Paper::Tabloid => Paper::Tabloid,
        action::Paper::Ledger => Paper::Ledger,
    }
}
