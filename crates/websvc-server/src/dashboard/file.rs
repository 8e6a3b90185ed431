//! The static files of the dashboard, which are part of the program.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;
use websvc_types::ErrorCode;

use crate::response::{ApiError, HttpResponse, with_type};
use crate::route::normalize;

/// A static file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct File {
    path: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! file {
    ($media_type:expr, $name:literal) => {
        File {
            path: concat!("/dashboard/files/", $name),
            media_type: $media_type,
            content: include_str!(concat!("files/", $name)),
        }
    };
}

/// The style sheet of the page.
const STYLE: File = file!(CSS, "style.css");
/// The scripts of the page.
const SCRIPTS: [File; 33] = [
    file!(JAVASCRIPT, "main.js"),
    file!(JAVASCRIPT, "agent.js"),
    file!(JAVASCRIPT, "agent_form.js"),
    file!(JAVASCRIPT, "agent_trace.js"),
    file!(JAVASCRIPT, "agents.js"),
    file!(JAVASCRIPT, "api.js"),
    file!(JAVASCRIPT, "check.js"),
    file!(JAVASCRIPT, "consent.js"),
    file!(JAVASCRIPT, "dialog.js"),
    file!(JAVASCRIPT, "diff.js"),
    file!(JAVASCRIPT, "dom.js"),
    file!(JAVASCRIPT, "feedback.js"),
    file!(JAVASCRIPT, "form.js"),
    file!(JAVASCRIPT, "keys.js"),
    file!(JAVASCRIPT, "live.js"),
    file!(JAVASCRIPT, "monitor.js"),
    file!(JAVASCRIPT, "monitor_actions.js"),
    file!(JAVASCRIPT, "monitor_form.js"),
    file!(JAVASCRIPT, "monitor_rules.js"),
    file!(JAVASCRIPT, "monitor_target.js"),
    file!(JAVASCRIPT, "monitor_text.js"),
    file!(JAVASCRIPT, "monitors.js"),
    file!(JAVASCRIPT, "playground.js"),
    file!(JAVASCRIPT, "provider.js"),
    file!(JAVASCRIPT, "redeem.js"),
    file!(JAVASCRIPT, "requests.js"),
    file!(JAVASCRIPT, "results.js"),
    file!(JAVASCRIPT, "session.js"),
    file!(JAVASCRIPT, "sessions.js"),
    file!(JAVASCRIPT, "snippets.js"),
    file!(JAVASCRIPT, "system.js"),
    file!(JAVASCRIPT, "teams.js"),
    file!(JAVASCRIPT, "usage.js"),
];

/// The script with the stop words of the index, which results do not mark.
static STOP_WORDS: LazyLock<String> = LazyLock::new(|| {
    let words: BTreeSet<&str> = websvc_index::stop_words().collect();
    let words: Vec<&str> = words.into_iter().collect();
    format!("export const STOP_WORDS = new Set(\"{}\".split(\" \"));\n", words.join(" "))
});

/// Path of [`STOP_WORDS`].
const STOP_WORDS_PATH: &str = "/dashboard/files/stop_words.js";

/// The policy: everything is loaded from this service, and no page may frame the dashboard. Images are artifacts of the
/// service, or inline data of a response. Frames are live views of browser sessions, which are pages of the service.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the HTML page.
pub(crate) fn page() -> HttpResponse {
    response(File { path: "/", media_type: HTML, content: include_str!("files/page.html") })
}

/// Returns the file at a path.
///
/// # Errors
/// 404 if there is none.
pub(super) fn response_at(path: &str) -> Result<HttpResponse, ApiError> {
    let path = normalize(path);
    if path == STOP_WORDS_PATH {
        return Ok(response(File { path: STOP_WORDS_PATH, media_type: JAVASCRIPT, content: &STOP_WORDS }));
    }
    let found = SCRIPTS.iter().chain([&STYLE]).find(|file| file.path == path);
    let file = found.ok_or_else(|| ApiError::new(ErrorCode::NotFound, format!("Not found: GET {path}")))?;
    Ok(response(*file))
}

/// Returns a file. Browsers revalidate it each time, because it may change with any version.
fn response(file: File) -> HttpResponse {
    let body = Body::from(Bytes::from_static(file.content.as_bytes()));
    let mut response = with_type(StatusCode::OK, file.media_type, body);
    set_security_headers(response.headers_mut());
    response
}

fn set_security_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_served_and_every_import_exists() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dashboard/files");
        let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "page.html")
            .collect();
        let name = |file: &File| file.path.rsplit('/').next().unwrap().to_owned();
        let served: BTreeSet<String> = SCRIPTS.iter().chain([&STYLE]).map(name).collect();
        assert_eq!(on_disk, served);
        for script in &SCRIPTS {
            assert!(response_at(script.path).is_ok(), "{}", script.path);
            for line in script.content.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).unwrap().trim_start_matches("./");
                let is_generated = STOP_WORDS_PATH.ends_with(&format!("/{from}"));
                assert!(is_generated || served.contains(from), "{}: {line}", script.path);
            }
        }
    }

    #[test]
    fn stop_words_of_the_index_are_a_script() {
        assert!(response_at(STOP_WORDS_PATH).is_ok());
        assert!(STOP_WORDS.starts_with("export const STOP_WORDS = new Set(\"a "), "{}", *STOP_WORDS);
        assert!(STOP_WORDS.contains(" the ") && STOP_WORDS.contains(" und ") && !STOP_WORDS.contains('\''));
    }

    /// Returns the colors `--color-1` to `--color-10` and `--color-other` of the light and of the dark scheme, each with the
    /// color behind them.
    fn palettes() -> [(Vec<[f64; 3]>, [f64; 3]); 2] {
        let parts: Vec<&str> = STYLE.content.split(":root {").skip(1).collect();
        [0, 1].map(|scheme| {
            let declarations = parts[scheme].split('}').next().unwrap().split(';');
            let pairs = declarations.filter_map(|declaration| declaration.trim().split_once(": #"));
            let rgb =
                |hex: &str| [0, 2, 4].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap().into());
            let named: Vec<(&str, [f64; 3])> = pairs.map(|(name, hex)| (name, rgb(hex))).collect();
            let card = named.iter().find(|(name, _)| *name == "--card").unwrap().1;
            (
                named.iter().filter(|(name, _)| name.starts_with("--color-")).map(|(_, rgb)| *rgb).collect(),
                card,
            )
        })
    }

    fn linear(rgb: [f64; 3]) -> [f64; 3] {
        rgb.map(|part| {
            let part = part / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Returns the contrast of two colors (WCAG 2.2).
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let luminance = |rgb| {
            let [red, green, blue] = linear(rgb);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        one.max(other) / one.min(other)
    }

    /// Returns a color in the space `OKLab`, where distances are those that people see.
    fn oklab(rgb: [f64; 3]) -> [f64; 3] {
        let [red, green, blue] = linear(rgb);
        let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
        let medium = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
        let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
        [
            0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short,
            1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short,
            0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short,
        ]
    }

    #[test]
    fn colors_of_operations_differ_and_are_visible_in_both_schemes() {
        for (colors, card) in palettes() {
            assert_eq!(colors.len(), 11);
            for (at, color) in colors.iter().enumerate() {
                // The minimum for graphics.
                assert!(contrast(*color, card) >= 3.0, "{color:?} on {card:?}");
                for other in &colors[..at] {
                    let (one, two) = (oklab(*color), oklab(*other));
                    let distance = (0..3).map(|part| (one[part] - two[part]).powi(2)).sum::<f64>().sqrt();
                    assert!(distance >= 0.09, "{color:?} and {other:?}: {distance}");
                }
            }
        }
    }

    #[test]
    fn files_load_nothing_remote_and_create_no_markup_from_text() {
        for file in SCRIPTS.iter().chain([&STYLE]) {
            assert!(!file.content.contains("innerHTML"), "{}", file.path);
            assert!(!file.content.contains("eval("), "{}", file.path);
            assert!(!file.content.contains("@import"), "{}", file.path);
        }
        assert!(!include_str!("files/page.html").contains("style="));
    }
}
