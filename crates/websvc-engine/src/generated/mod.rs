//! Generates content from a scraped page: by a language model, or by the words of a query.
//!
//! The model gets the markdown as data, after personal data was removed from it if the request wants that, and has no tools. Its output is
//! checked where possible: data is validated against the schema, and for passages it returns only numbers. Nothing here
//! holds a permit of the scraper, and nothing is stored.

mod branding;
mod changes;
mod clean;
mod combined;
mod content_words;
mod empty_answer;
mod highlights;
mod json;
mod personal_data;
mod schema_check;
mod schema_compile;
mod schema_words;
mod selection;
mod session;
mod unusable;

use std::borrow::Cow;
use std::time::Instant;

use websvc_model::{Feature, Model, ResponseFormat};
use websvc_scrape::{GeneratedContent, Page, ScrapeError, warn_not_redacted};
use websvc_stage::StageTimes;
use websvc_types::Format;
use websvc_validate::ScrapePlan;

pub(crate) use changes::{ChangedVersions, describe_changes};
pub(crate) use content_words::is_word_form;
pub use personal_data::{NamedAnswer, NoAnswer, check_named, name_personal_data};
pub use schema_check::schema_violation;
pub use schema_compile::SCHEMA_COMPILER;
pub(crate) use session::{ModelSession, model_deadline};

use session::{ContentRequest, Generated, PageText};

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
    let wants = |name: &str| plan.formats.iter().any(|format| format.name() == name);
    let has_markdown = wants("markdown");
    let has_generated = plan.formats.iter().any(is_generated);
    let is_clean = plan.only_clean_content && model.is_some();
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
    let (own, shared): (Vec<&Format>, Vec<&Format>) = plan.formats.iter().partition(has_own_content);
    let mut combined = combined::request(session, &shared, &content.text).await;
    for format in shared.into_iter().chain(own) {
        let by_model = match format {
            Format::Summary(_) => {
                let request = text_request(Feature::Summary, SUMMARY, "Summarise it.", SUMMARY_TOKENS);
                let request = ContentRequest { content: &content.text, ..request };
                generated.summary = text(session, combined.summary.take(), request).await;
                generated.summary.is_some()
            }
            Format::Question(question) => {
                let question = &question.question;
                let request = text_request(Feature::Question, QUESTION, question, ANSWER_TOKENS);
                let answer = combined.answer.take();
                let content = match &answer {
                    Some(_) => Cow::Borrowed(""),
                    None => session.fitting(&content, &request, question).await,
                };
                generated.answer =
                    text(session, answer, ContentRequest { content: &content, ..request }).await;
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
                    highlights::choose_passages(session, &options.query, markdown).await;
                generated.highlights = content.unwrap_or_default();
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

/// Returns a request for a text, without its content.
const fn text_request<'a>(
    feature: Feature,
    instructions: &'a str,
    prompt: &'a str,
    max_tokens: u32,
) -> ContentRequest<'a> {
    ContentRequest { feature, instructions, prompt, content: "", shape: ResponseFormat::Text, max_tokens }
}

/// Returns the text of a combined request, or else requests it from the model. If that fails, adds a warning and returns `None`.
/// An answer without information is returned with a warning.
async fn text(
    session: &mut ModelSession<'_>,
    combined: Option<String>,
    request: ContentRequest<'_>,
) -> Option<String> {
    let ContentRequest { feature, instructions, prompt, .. } = request;
    let answer = match combined {
        Some(answer) => answer,
        None => session.complete(request).await?.into_text(),
    };
    if let Some(reason) = unusable::reason(&answer, prompt, instructions) {
        session.warn(feature.name(), &format!("the language model answered {reason}"));
    }
    Some(answer)
}

/// Returns the markdown, preceded by the URL, the title and the description of the page.
fn content(plan: &ScrapePlan, page: &Page, markdown: &str) -> PageText {
    let metadata = &page.metadata;
    // The URL is not redacted, so it is left out if personal data must be removed.
    let url = metadata.url.as_deref().filter(|_| plan.redact_pii.is_none());
    let mut text = String::new();
    let lines = [
        ("URL", url),
        ("Title", metadata.title.as_deref()),
        ("Description", metadata.description.as_deref()),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            text.push_str(&format!("{name}: {value}\n"));
        }
    }
    text.push('\n');
    let markdown_start = text.len();
    text.push_str(markdown);
    PageText { text, markdown_start }
}

/// Returns whether a page is a PDF that is returned unparsed.
fn is_unread_file(page: &Page, plan: &ScrapePlan) -> bool {
    if matches!(plan.formats.as_slice(), [Format::RawBase64(_)]) {
        return true;
    }
    let media_type = page.metadata.content_type.as_deref().and_then(|value| value.split(';').next());
    let is_pdf = media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/pdf"));
    is_pdf && page.metadata.num_pages.is_none()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_model::{CompletionContent, FakeModel};

    use super::*;

    /// Asks a model about a page, and returns its answer and the warnings.
    async fn answer(model: &FakeModel, question: &str, markdown: &str) -> (Option<String>, Vec<String>) {
        let stages = StageTimes::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut session =
            ModelSession { model: Some(model), stages: &stages, deadline, warnings: Vec::new() };
        let page = PageText { text: format!("\n{markdown}"), markdown_start: 1 };
        let request = text_request(Feature::Question, QUESTION, question, ANSWER_TOKENS);
        let content = session.fitting(&page, &request, question).await;
        let answer = text(&mut session, None, ContentRequest { content: &content, ..request }).await;
        (answer, session.warnings)
    }

    fn says(answer: &'static str) -> FakeModel {
        FakeModel::new(move |_| Ok(CompletionContent::Text(answer.to_owned())))
    }

    #[tokio::test]
    async fn answer_near_the_end_of_a_long_page_reaches_the_model() {
        let filler = "Gardens lie on the slopes by the river, in the sun.\n\n".repeat(4_000);
        let markdown = format!("# Gardens\n\n{filler}A tin of gyokuro costs 31 euros.\n");
        assert!(markdown.len() > 200_000);
        let model = FakeModel::new(|request| {
            let content = request.content.unwrap();
            let has_fact = content.contains("A tin of gyokuro costs 31 euros.");
            assert!(has_fact && content.starts_with("\n# Gardens") && content.chars().count() < 20_000);
            Ok(CompletionContent::Text("31 euros".to_owned()))
        });
        let model = model.with_max_input_chars(20_000);
        let (found, warnings) = answer(&model, "What does a tin of gyokuro cost?", &markdown).await;
        assert_eq!(found.as_deref(), Some("31 euros"));
        assert!(
            warnings.len() == 1 && warnings[0].contains("format question: the page has "),
            "{warnings:?}"
        );
    }

    #[tokio::test]
    async fn answer_without_information_stays_and_is_reported() {
        for (text, reason) in [("null", "a word for nothing"), ("What does tea cost?", "the request itself")]
        {
            let (found, warnings) = answer(&says(text), "What does tea cost?", "Tea costs 5 euros.").await;
            assert_eq!(found.as_deref(), Some(text));
            assert!(warnings.len() == 1 && warnings[0].contains(reason), "{warnings:?}");
        }
        let (found, warnings) = answer(&says("5 euros"), "What does tea cost?", "Tea costs 5 euros.").await;
        assert_eq!((found.as_deref(), warnings.len()), (Some("5 euros"), 0));
    }
}
