//! Renders the markdown of pages as HTML that is safe on the dashboard: text, structure and links, but nothing that loads
//! or runs.

use http::{Request, StatusCode};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Deserialize;
use websvc_transport::ServerBody;

use crate::blocking::run_blocking;
use crate::handler::{parse_body, read_body};
use crate::response::{ApiError, HttpResponse, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RenderInput {
    markdown: String,
}

/// `POST /dashboard/render`.
pub(super) async fn render(request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = read_body(request)?;
    let html = run_blocking(move || {
        let RenderInput { markdown } = parse_body(&body)?;
        Ok::<_, ApiError>(sanitize(&markdown))
    });
    Ok(json(StatusCode::OK, &serde_json::json!({ "html": html.await?? })))
}

/// Renders untrusted markdown. Raw HTML becomes text, images become links, and links with an unsafe scheme lead nowhere.
fn sanitize(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(markdown, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe_url(dest_url), title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe_url(dest_url), title, id })
        }
        // The levels 1 to 3 are headings of the dashboard.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower_level(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower_level(level))),
        other => other,
    });
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 2);
    html::push_html(&mut out, events);
    out
}

fn lower_level(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Returns the URL of a link, or `#` if its scheme is not safe.
fn safe_url(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https" | "mailto" | "tel") => url,
        _ => CowStr::Borrowed("#"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendered_markdown_cannot_run_or_load_anything() {
        let check =
            |markdown: &str, expected: &str| assert_eq!(sanitize(markdown).trim(), expected, "{markdown}");
        check("# A <b>bold</b> one", "<h4>A &lt;b&gt;bold&lt;/b&gt; one</h4>");
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("[x](javascript:alert(1))", "<p><a href=\"#\">x</a></p>");
        check("[x](JavaScript&#58;alert(1))", "<p><a href=\"#\">x</a></p>");
        check("[x](data:text/html,hi)", "<p><a href=\"#\">x</a></p>");
        check("![alt](https://a.test/x.png)", "<p><a href=\"https://a.test/x.png\">alt</a></p>");
        check("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;");
        check(
            "| a |\n|---|\n| <i>b</i> |",
            "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>&lt;i&gt;b&lt;/i&gt;</td></tr>\n</tbody></table>",
        );
    }
}
