//! The part of the format `branding` that a language model decides: it chooses among close candidates, and describes the
//! character of the page.

use std::sync::LazyLock;

use serde_json::Value;
use websvc_branding::{BrandChoices, PageDesign};
use websvc_model::{Feature, ResponseFormat};

use super::session::{ContentRequest, ModelSession};

const FORMAT: &str = Feature::Branding.name();

/// The maximum length of the answer: numbers and a few words.
const MAX_TOKENS: u32 = 600;

const INSTRUCTIONS: &str = "You describe the brand of a web site. The content lists texts of its page, and its buttons, colors and \
    logos, each after its number in brackets. Answer with the numbers of those that are what is asked for, and null for \
    what is not listed. Invent nothing.";

const PROMPT: &str = "Which button is the main call to action, and which one is next to it in importance? Which color is the \
    main color of the brand, which are its second (accent) and third (secondary) color? Which image is the logo of the \
    site itself? What is the tone and the energy of the page, which audience does it address, and which framework and \
    component library was it built with? Say how sure you are, from 0 to 1.";

static SCHEMA: LazyLock<Value> = LazyLock::new(BrandChoices::schema);

/// Asks the model about a design, once. If that fails, adds a warning and leaves the design as rules found it.
pub(super) async fn refine(session: &mut ModelSession<'_>, design: &mut PageDesign) {
    if session.model.is_none() {
        return;
    }
    let PageDesign { branding, choices } = design;
    let content = choices.describe(branding);
    let request = ContentRequest {
        feature: Feature::Branding,
        instructions: INSTRUCTIONS,
        prompt: PROMPT,
        content: &content,
        shape: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
    };
    let Some(answer) = session.complete(request).await else { return };
    if let Err(reason) = choices.apply(branding, answer.into_json()) {
        session.warn(FORMAT, &format!("personality and confidence are left out: {reason}"));
    }
}
