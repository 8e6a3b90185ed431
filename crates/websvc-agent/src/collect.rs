//! Extracts data from the passages of one page.

use std::time::Instant;

use serde_json::Value;
use websvc_model::{CompletionRequest, Feature, Model, ModelError, ResponseFormat, Usage, cut, one_line};

use crate::blocking::run_blocking;
use crate::instructions::COLLECT;
use crate::merge::Draft;
use crate::normalize::{UNRELATED, usable_data};
use crate::page::Page;
use crate::prompt::{Content, passage_text, task_sections};
use crate::requests::{ModelAnswer, complete, content_chars};
use crate::schema::optional_schema;
use crate::tool::ReadPage;

/// The maximum number of parts of a page.
const MAX_PARTS: usize = 6;

/// The text after the prompt if the answer had none of the fields.
const REFUSED: &str =
    "\nYour last answer was refused: it has none of the fields. Use the names of the fields.";

/// Data that is extracted from a page.
#[derive(Debug, Default)]
pub struct Collected {
    /// The data: null if the model gave no usable answer.
    pub data: Value,
    /// The reason why an answer could not be used.
    pub problem: Option<&'static str>,
    /// The tokens, estimated where the model does not report them.
    pub usage: Usage,
    /// True if the end of the page was not read, because it is too long.
    pub is_cut: bool,
}

/// Extracts the data of a page by a schema, or a free object. A long page is read in up to six parts whose data is merged. The
/// data has the form of the schema where nothing has to be guessed, but not all values that it requires. Once, an answer
/// without any of its properties is asked for again.
///
/// # Errors
/// The failure of the model.
pub async fn collect_page(
    model: &dyn Model,
    prompt: &str,
    schema: Option<&Value>,
    page: ReadPage,
    deadline: Instant,
) -> Result<Collected, ModelError> {
    let optional = schema.map(optional_schema);
    let format = optional.as_ref().map_or(ResponseFormat::Json, ResponseFormat::Schema);
    let prompt = collect_prompt(prompt, optional.as_ref());
    let mut refused = Some(format!("{prompt}{REFUSED}"));
    let max_chars = content_chars(model, COLLECT, &prompt, format);
    let title = page.title.clone();
    let page = run_blocking(move || Page::new(page)).await;
    let (mut draft, mut usage, mut first, mut problem) = (Draft::new(), Usage::default(), 0, None);
    for _ in 0..MAX_PARTS {
        let all: Vec<usize> = (first..page.passages.len()).collect();
        let (content, count) = collect_content(0, &title, &page, &all, None, max_chars);
        if count == 0 {
            break;
        }
        first += count;
        let request = CompletionRequest {
            feature: Feature::Extract,
            instructions: COLLECT,
            user_prompt: &prompt,
            content: Some(&content),
            format,
            max_tokens: format.max_data_tokens(&content),
            deadline,
        };
        let mut data = ask(model, &request, schema, &mut usage).await?;
        if data == Err(UNRELATED)
            && let Some(user_prompt) = refused.take()
        {
            let again = CompletionRequest { user_prompt: &user_prompt, ..request };
            data = ask(model, &again, schema, &mut usage).await?;
        }
        match data {
            Ok(data) => {
                draft.add(&page.url, data);
            }
            Err(reason) => problem = Some(reason),
        }
    }
    let is_cut = page.is_cut || first < page.passages.len();
    Ok(Collected { data: draft.into_parts().0, problem, usage, is_cut })
}

/// Asks the model for the data of passages.
async fn ask(
    model: &dyn Model,
    request: &CompletionRequest<'_>,
    schema: Option<&Value>,
    usage: &mut Usage,
) -> Result<ModelAnswer, ModelError> {
    let (answer, of_request) = complete(model, request).await?;
    usage.add(of_request);
    Ok(match answer {
        Ok(answer) => usable_data(answer, schema).await,
        Err(reason) => Err(reason),
    })
}

/// Returns the prompt of a request.
pub(crate) fn collect_prompt(prompt: &str, schema: Option<&Value>) -> String {
    let mut text = task_sections(prompt, schema, &[]);
    text.push_str("## Collect\nExtract the values that the passages of the page state.");
    text
}

/// Returns the content of a request with as many of the passages as fit, and their number. The draft is for a free object,
/// whose names should stay the same.
pub(crate) fn collect_content(
    index: usize,
    title: &str,
    page: &Page,
    passages: &[usize],
    draft: Option<&Value>,
    max_chars: usize,
) -> (String, usize) {
    let mut content = Content::new(max_chars);
    let title = cut(&one_line(title), 150);
    let line = format!("p{} {title} | {}", index + 1, cut(&one_line(&page.url), 300));
    content.add("Page", [line], max_chars);
    if let Some(draft) = draft {
        content.add("Draft", [cut(&draft.to_string(), max_chars / 8)], max_chars / 6);
    }
    let lines = passages
        .iter()
        .map(|passage| passage_text(index, *passage, &page.passages[*passage].text, ToOwned::to_owned));
    let remaining = content.remaining();
    let count = content.add("Passages", lines, remaining);
    (content.finish(), count)
}
