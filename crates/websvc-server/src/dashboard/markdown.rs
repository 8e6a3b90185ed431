//! Markdown of pages as HTML that may be shown in ours: text, structure and links, and nothing that loads or runs.

use http::{Request, StatusCode};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use serde::Deserialize;
use websvc_transport::ServerBody;

use super::parse;
use crate::handler::read_body;
use crate::response::{ApiError, HttpResponse, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RenderInput {
    markdown: String,
}

/// `POST /dashboard/render`.
pub(super) async fn render(request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = read_body(request).await?;
    let rendered = tokio::task::spawn_blocking(move || {
        let RenderInput { markdown } = parse(&body)?;
        Ok::<_, ApiError>(sanitize(&markdown))
    });
    let html =
        rendered.await.map_err(|error| ApiError::internal(&error, "the markdown could not be shown"))??;
    Ok(json(StatusCode::OK, &serde_json::json!({ "html": html })))
}

/// Renders markdown of somebody else. Raw HTML becomes text, an image becomes a link to it, and a link that is not of the
/// web leads nowhere.
fn sanitize(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(markdown, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: is_safe_url(dest_url), title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: is_safe_url(dest_url), title, id })
        }
        // Headings of a page in a page: below those of the page itself.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: below(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
        other => other,
    });
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 2);
    html::push_html(&mut out, events);
    out
}

fn below(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    use pulldown_cmark::HeadingLevel::{H4, H5, H6};
    match level {
        pulldown_cmark::HeadingLevel::H1 => H4,
        pulldown_cmark::HeadingLevel::H2 => H5,
        _ => H6,
    }
}

fn is_safe_url(address: CowStr<'_>) -> CowStr<'_> {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https" | "mailto" | "tel") => address,
        _ => CowStr::Borrowed("#"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_says_cannot_run_or_load_anything() {
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
