//! What is written of the content of a page after it was got: by a language model, or by the words of a query.
//!
//! A model gets the markdown as data, after personal data was removed from it, has no tools, and is believed nothing that
//! can be checked: data is validated by its schema, and of passages it only tells the numbers. Nothing here holds a place of
//! the scraper, and nothing is kept.

mod clean;
mod highlights;
mod json;
mod passages;
mod schema_check;
mod session;

use std::time::Instant;

use websvc_model::Model;
use websvc_scrape::{GeneratedContent, Page};
use websvc_stage::StageTimes;
use websvc_types::Format;
use websvc_validate::ScrapePlan;

use session::ModelSession;

/// The longest summary.
const SUMMARY_TOKENS: u32 = 600;

/// The longest answer to a question.
const ANSWER_TOKENS: u32 = 1_500;

const SUMMARY: &str = "You summarise web pages. Write a summary of the content in its own language, in at most 150 words of \
    plain prose: what it is, and its main facts. Say nothing that is not in the content, and nothing about the summary.";

const QUESTION: &str = "You answer questions about web pages from their content alone, briefly and in the language of the \
    question. When the content does not answer the question, say so.";

/// Writes what the plan wants of a page beside what the page was rendered to; what cannot be written is in its warnings. The
/// page was got by [`ScrapePlan::for_reading`].
pub(crate) async fn write(
    model: Option<&dyn Model>,
    stages: &StageTimes,
    plan: &ScrapePlan,
    page: &mut Page,
    deadline: Instant,
) {
    let model = model.filter(|model| model.can_complete());
    let wants = |name: &str| plan.formats().iter().any(|format| format.name() == name);
    let has_markdown = wants("markdown");
    let writes = plan.formats().iter().any(is_written);
    let is_clean = plan.only_clean_content() && model.is_some();
    if is_clean && !has_markdown && !writes {
        page.warnings
            .push("onlyCleanContent: no format that was asked for is made of the markdown".to_owned());
    }
    let is_cleaned = is_clean && has_markdown;
    if !writes && !is_cleaned {
        return;
    }
    let Some(mut markdown) = page.markdown.take() else { return };
    if is_unread_file(page) {
        page.warnings.push("nothing can be written of a file that was not read".to_owned());
        page.markdown = has_markdown.then_some(markdown);
        return;
    }
    let mut desk = ModelSession { model, stages, deadline, warnings: Vec::new() };
    if is_clean {
        markdown = clean::clean(&mut desk, markdown).await;
    }
    let written = formats(&mut desk, plan, page, &markdown).await;
    page.written = written;
    page.warnings.append(&mut desk.warnings);
    page.markdown = has_markdown.then_some(markdown);
}

async fn formats(
    desk: &mut ModelSession<'_>,
    plan: &ScrapePlan,
    page: &Page,
    markdown: &str,
) -> GeneratedContent {
    let content = content(plan, page, markdown);
    let mut written = GeneratedContent::default();
    for format in plan.formats() {
        let by_model = match format {
            Format::Summary(_) => {
                written.summary =
                    text(desk, "summary", SUMMARY, "Summarise it.", &content, SUMMARY_TOKENS).await;
                written.summary.is_some()
            }
            Format::Question(question) => {
                let asked = &question.question;
                written.answer = text(desk, "question", QUESTION, asked, &content, ANSWER_TOKENS).await;
                written.answer.is_some()
            }
            Format::Json(options) => {
                let (value, by_model) = json::extract(desk, options, &content).await;
                written.json = value;
                by_model
            }
            Format::Highlights(options) => {
                let (passages, by_model) = highlights::choose(desk, &options.query, markdown).await;
                written.highlights = passages;
                by_model
            }
            Format::Markdown(_)
            | Format::Html(_)
            | Format::RawHtml(_)
            | Format::Links(_)
            | Format::Images(_)
            | Format::Screenshot(_)
            | Format::ChangeTracking(_)
            | Format::Branding(_)
            | Format::Product(_)
            | Format::Menu(_)
            | Format::Audio(_)
            | Format::Video(_) => false,
        };
        if by_model {
            written.by_model.push(format.name());
        }
    }
    written
}

/// Returns whether a format is written here.
fn is_written(format: &Format) -> bool {
    matches!(format, Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_))
}

/// Asks for a text; without one, a warning says why.
async fn text(
    desk: &mut ModelSession<'_>,
    format: &str,
    instructions: &str,
    wish: &str,
    content: &str,
    max_tokens: u32,
) -> Option<String> {
    let answer = desk
        .ask(format, (instructions, wish), content, websvc_model::ResponseFormat::Text, max_tokens)
        .await?;
    Some(answer.into_text())
}

/// Returns the markdown with what the page says of itself.
fn content(plan: &ScrapePlan, page: &Page, markdown: &str) -> String {
    let metadata = &page.metadata;
    // An address is no text that personal data is removed from.
    let url = metadata.url.as_deref().filter(|_| plan.redact_pii().is_none());
    let mut content = String::new();
    let lines = [
        ("URL", url),
        ("Title", metadata.title.as_deref()),
        ("Description", metadata.description.as_deref()),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            content.push_str(&format!("{name}: {value}\n"));
        }
    }
    content.push('\n');
    content.push_str(markdown);
    content
}

/// Returns whether a page is a PDF that is given back as it is.
fn is_unread_file(page: &Page) -> bool {
    let media_type = page.metadata.content_type.as_deref().and_then(|value| value.split(';').next());
    let is_pdf = media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/pdf"));
    is_pdf && page.metadata.num_pages.is_none()
}
