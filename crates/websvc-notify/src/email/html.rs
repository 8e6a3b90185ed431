//! The HTML of messages about checks, and of feeds.
//!
//! Mail programs ignore style sheets and change colors in dark mode, so every colored element has both a background and
//! a text color of its own, inline. Nothing is loaded from elsewhere, and a diff can be read without its colors.

use url::Url;

use super::plain::{notes, omitted_fields, omitted_lines, summary};
use crate::digest::{DiffLineKind, Difference, Digest, JudgmentDigest, PageDigest};
use crate::escape::escape;
use websvc_types::monitor::MonitorPageStatus;

use crate::report::CheckReport;
use crate::wording::{judged_kind, page_status};

const ADDED: &str = "background-color:#d7f5dd;color:#0b3d1a";
const REMOVED: &str = "background-color:#ffdfdc;color:#5f0d0a";
const NEUTRAL: &str = "background-color:#eceff3;color:#1f2933";
const HUNK: &str = "background-color:#dde7f7;color:#1d3a66";
const FONT: &str =
    "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:15px;line-height:1.5";
const CODE: &str = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;line-height:1.45";

/// Returns the HTML document of a message about a check.
pub(super) fn report(
    report: &CheckReport,
    digest: &Digest,
    headline: &str,
    unsubscribe_url: Option<&Url>,
) -> String {
    let mut body = format!(
        "<h1 style=\"font-size:20px;line-height:1.3;margin:0 0 8px\">{}</h1>\n{}",
        bidi_isolate(headline),
        content(report, digest)
    );
    if let Some(url) = unsubscribe_url {
        body.push_str(&format!(
            "<p style=\"font-size:13px;margin:24px 0 0\">{}</p>\n",
            link(url.as_str(), "Stop these messages")
        ));
    }
    document(headline, &body)
}

/// Returns a complete document. `body` is HTML.
pub(super) fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n</head>\n\
         <body style=\"margin:0;padding:16px\">\n<div style=\"{FONT};max-width:720px\">\n{body}</div>\n</body>\n</html>\n",
        escape(title)
    )
}

/// Returns the HTML about a check without its headline.
pub(crate) fn content(report: &CheckReport, digest: &Digest) -> String {
    let mut html = paragraph(&escape(&summary(report)));
    if let Some(error) = &digest.error {
        html.push_str(&paragraph(&format!("Error: {}", bidi_isolate(error))));
    }
    for page in &digest.pages {
        push_page(&mut html, page);
    }
    for note in notes(digest) {
        html.push_str(&paragraph(&escape(&note)));
    }
    if let Some(url) = &report.dashboard_url {
        html.push_str(&paragraph(&link(url.as_str(), "All details")));
    }
    html
}

/// Returns a link. `text` is not escaped yet.
pub(super) fn link(target: &str, text: &str) -> String {
    format!("<a href=\"{}\" rel=\"noreferrer\">{}</a>", escape(target), bidi_isolate(text))
}

/// Returns a paragraph. `html` is escaped already.
pub(super) fn paragraph(html: &str) -> String {
    format!("<p style=\"margin:0 0 12px\">{html}</p>\n")
}

/// Escapes a text, and keeps its direction from changing the order of the text around it.
fn bidi_isolate(text: &str) -> String {
    if text.is_ascii() { escape(text) } else { format!("<bdi>{}</bdi>", escape(text)) }
}

fn push_page(html: &mut String, page: &PageDigest) {
    let PageDigest { status, title, url, link: target, judgment, difference, error } = page;
    let name = title.as_deref().unwrap_or(url);
    let name = target.as_deref().map_or_else(|| bidi_isolate(name), |target| link(target, name));
    html.push_str(&format!(
        "<h2 style=\"font-size:16px;line-height:1.4;margin:20px 0 4px\">{} {name}</h2>\n",
        badge(*status)
    ));
    if title.is_some() {
        html.push_str(&format!(
            "<p style=\"font-size:13px;margin:0 0 8px;word-break:break-all\">{}</p>\n",
            bidi_isolate(url)
        ));
    }
    if let Some(error) = error {
        html.push_str(&paragraph(&format!("Error: {}", bidi_isolate(error))));
    }
    if let Some(judgment) = judgment {
        push_judgment(html, judgment);
    }
    if let Some(difference) = difference {
        push_difference(html, difference);
    }
}

fn badge(status: MonitorPageStatus) -> String {
    let style = match status {
        MonitorPageStatus::New => ADDED,
        MonitorPageStatus::Changed => HUNK,
        MonitorPageStatus::Removed | MonitorPageStatus::Error => REMOVED,
        MonitorPageStatus::Same => NEUTRAL,
    };
    let style = format!("{style};font-size:13px;padding:2px 6px;border-radius:4px");
    format!("<span style=\"{style}\">{}</span>", page_status(status))
}

fn push_judgment(html: &mut String, judgment: &JudgmentDigest) {
    html.push_str(&paragraph(&bidi_isolate(&judgment.verdict())));
    if judgment.changes.is_empty() {
        return;
    }
    html.push_str("<ul style=\"margin:0 0 12px\">\n");
    for change in &judgment.changes {
        let reason = if change.reason.is_empty() {
            String::new()
        } else {
            format!(" ({})", bidi_isolate(&change.reason))
        };
        html.push_str(&format!(
            "<li>{}: {}{reason}</li>\n",
            judged_kind(change.kind),
            before_and_after(change.before.as_deref(), change.after.as_deref())
        ));
    }
    html.push_str("</ul>\n");
}

/// Returns the texts before and after a change, colored.
fn before_and_after(before: Option<&str>, after: Option<&str>) -> String {
    let marked = |style: &str, text: &str| format!("<span style=\"{style}\">{}</span>", bidi_isolate(text));
    match (before, after) {
        (Some(before), Some(after)) => {
            format!("{} &#8594; {}", marked(REMOVED, before), marked(ADDED, after))
        }
        (Some(before), None) => marked(REMOVED, before),
        (None, Some(after)) => marked(ADDED, after),
        (None, None) => String::new(),
    }
}

fn push_difference(html: &mut String, difference: &Difference) {
    let Difference { fields, omitted_fields: more_fields, lines, omitted_lines: more_lines } = difference;
    if !fields.is_empty() {
        html.push_str("<ul style=\"margin:0 0 12px\">\n");
        for field in fields {
            html.push_str(&format!(
                "<li><code style=\"{CODE}\">{}</code>: {}</li>\n",
                bidi_isolate(&field.path),
                before_and_after(Some(&field.previous), Some(&field.current))
            ));
        }
        html.push_str("</ul>\n");
    }
    if *more_fields > 0 {
        html.push_str(&paragraph(&escape(&omitted_fields(*more_fields))));
    }
    if !lines.is_empty() {
        html.push_str(&format!("<div style=\"{CODE};{NEUTRAL};margin:0 0 12px;border-radius:4px\">\n"));
        for line in lines {
            let style = match line.kind {
                DiffLineKind::Hunk => HUNK,
                DiffLineKind::Added => ADDED,
                DiffLineKind::Removed => REMOVED,
                DiffLineKind::Context => NEUTRAL,
            };
            // `<pre>` keeps the blanks where a mail program removes the property `white-space`.
            html.push_str(&format!(
                "<pre style=\"{CODE};{style};margin:0;padding:0 8px;white-space:pre-wrap;\
                 overflow-wrap:anywhere\">{}</pre>\n",
                bidi_isolate(&line.text)
            ));
        }
        html.push_str("</div>\n");
    }
    if *more_lines > 0 {
        html.push_str(&paragraph(&escape(&omitted_lines(*more_lines))));
    }
}
