//! Generates content from a scraped page: by a language model, or by the words of a query.
//!
//! The model gets the markdown as data, after personal data was removed from it if the request wants that, and has no tools. Its output is
//! checked where possible: data is validated against the schema, and for passages it returns only numbers. Nothing here
//! holds a permit of the scraper, and nothing is stored.

mod branding;
mod changes;
mod clean;
mod combined;
mod highlights;
mod json;
mod personal_data;
mod schema_check;
mod schema_compile;
mod session;

use std::time::Instant;

use websvc_model::{Feature, Model, ResponseFormat};
use websvc_scrape::{GeneratedContent, Page, ScrapeError, warn_not_redacted};
use websvc_stage::StageTimes;
use websvc_types::Format;
use websvc_validate::ScrapePlan;

pub(crate) use changes::{ChangedVersions, describe_changes};
pub use personal_data::{NoAnswer, name_personal_data};
pub use schema_check::schema_violation;
pub use schema_compile::SCHEMA_COMPILER;
pub(crate) use session::{ModelSession, model_deadline};

use session::{ContentRequest, Generated};

/// The maximum length of a summary.
const SUMMARY_TOKENS: u32 = 600;

/// The maximum length of an answer to a question.
const ANSWER_TOKENS: u32 = 1_500;

const SUMMARY: &str = "You summarise web pages. Write a summary of the content in its own language, in at most 150 words of \
    plain prose: what it is, and its main facts. Say nothing that is not in the content, and nothing about the summary.";

const QUESTION: &str = "You answer questions about web pages from their content alone, briefly and in the language of the \
    question. When the content does not answer the question, say so.";

/// Generates the content that the plan requests of a scraped page, and redacts the page with the model. Problems become
/// warnings of the page. The page must be scraped with [`ScrapePlan::for_scraper`].
///
/// # Errors
/// [`ScrapeError::Timeout`] if the page could not be redacted until the deadline.
pub(crate) async fn write(
    model: Option<&dyn Model>,
    stages: &StageTimes,
    plan: &ScrapePlan,
    page: &mut Page,
    deadline: Instant,
) -> Result<(), ScrapeError> {
    let model = model.filter(|model| model.can_complete());
    let wants = |name: &str| plan.formats().iter().any(|format| format.name() == name);
    let has_markdown = wants("markdown");
    let has_generated = plan.formats().iter().any(is_generated);
    let is_clean = plan.only_clean_content() && model.is_some();
    if is_clean && !has_markdown && !has_generated {
        page.warnings.push("onlyCleanContent: no format in the request uses the markdown".to_owned());
    }
    let needs_markdown = has_generated || is_clean && has_markdown;
    if is_unread_file(page, plan) {
        if plan.is_redacted_by_model() && model.is_some() {
            warn_not_redacted(page);
        }
        if needs_markdown && page.markdown.is_some() {
            page.warnings.push("no content can be generated from a file that was not parsed".to_owned());
        }
        page.markdown = page.markdown.take().filter(|_| has_markdown);
        return Ok(());
    }
    let mut session = ModelSession { model, stages, deadline, warnings: Vec::new() };
    if is_clean
        && needs_markdown
        && let Some(markdown) = page.markdown.take()
    {
        page.markdown = Some(clean::clean(&mut session, markdown).await);
    }
    personal_data::redact(&mut session, plan, page).await?;
    if let Some(design) = page.design.as_deref_mut() {
        branding::refine(&mut session, design).await;
    }
    if has_generated && let Some(markdown) = page.markdown.take() {
        page.generated = formats(&mut session, plan, page, &markdown).await;
        page.markdown = has_markdown.then_some(markdown);
    }
    page.warnings.append(&mut session.warnings);
    Ok(())
}

async fn formats(
    session: &mut ModelSession<'_>,
    plan: &ScrapePlan,
    page: &Page,
    markdown: &str,
) -> GeneratedContent {
    let content = content(plan, page, markdown);
    let mut generated = GeneratedContent::default();
    // Requests about the same content follow each other, so that a server with a cache reads the page once. Highlights have a
    // content of their own.
    let has_own_content = |format: &&Format| matches!(format, Format::Highlights(_));
    let (own, shared): (Vec<&Format>, Vec<&Format>) = plan.formats().iter().partition(has_own_content);
    let mut combined = combined::request(session, &shared, &content).await;
    for format in shared.into_iter().chain(own) {
        let by_model = match format {
            Format::Summary(_) => {
                let task = (Feature::Summary, SUMMARY, "Summarise it.", SUMMARY_TOKENS);
                generated.summary = text(session, combined.summary.take(), task, &content).await;
                generated.summary.is_some()
            }
            Format::Question(question) => {
                let task = (Feature::Question, QUESTION, question.question.as_str(), ANSWER_TOKENS);
                generated.answer = text(session, combined.answer.take(), task, &content).await;
                generated.answer.is_some()
            }
            Format::Json(options) => {
                let of_request = combined.json.take();
                let Generated { content, by_model } =
                    json::extract(session, options, &content, of_request).await;
                generated.json = content;
                by_model
            }
            Format::Highlights(options) => {
                let Generated { content, by_model } =
                    highlights::choose(session, &options.query, markdown).await;
                generated.highlights = content;
                by_model
            }
            Format::Markdown(_)
            | Format::Html(_)
            | Format::RawHtml(_)
            | Format::RawBase64(_)
            | Format::Links(_)
            | Format::Images(_)
            | Format::Screenshot(_)
            | Format::ChangeTracking(_)
            | Format::Branding(_)
            | Format::Product(_)
            | Format::Menu(_)
            | Format::Audio(_)
            | Format::Video(_)
            | Format::Attributes(_) => false,
        };
        if by_model {
            generated.by_model.push(format.name());
        }
    }
    generated
}

/// Returns whether a format is generated here.
fn is_generated(format: &Format) -> bool {
    matches!(format, Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_))
}

/// Returns the text of a combined request, or else requests it from the model: the format, the instructions, the prompt and
/// the maximum length in tokens. If that fails, adds a warning and returns `None`.
async fn text(
    session: &mut ModelSession<'_>,
    combined: Option<String>,
    (feature, instructions, prompt, max_tokens): (Feature, &str, &str, u32),
    content: &str,
) -> Option<String> {
    if combined.is_some() {
        return combined;
    }
    let request =
        ContentRequest { feature, instructions, prompt, content, shape: ResponseFormat::Text, max_tokens };
    Some(session.complete(request).await?.into_text())
}

/// Returns the markdown, preceded by the URL, the title and the description of the page.
fn content(plan: &ScrapePlan, page: &Page, markdown: &str) -> String {
    let metadata = &page.metadata;
    // The URL is not redacted, so it is left out if personal data must be removed.
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

/// Returns whether a page is a PDF that is returned unparsed.
fn is_unread_file(page: &Page, plan: &ScrapePlan) -> bool {
    if matches!(plan.formats(), [Format::RawBase64(_)]) {
        return true;
    }
    let media_type = page.metadata.content_type.as_deref().and_then(|value| value.split(';').next());
    let is_pdf = media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/pdf"));
    is_pdf && page.metadata.num_pages.is_none()
}
