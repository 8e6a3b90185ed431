//! How a question is put, and how else when a server does not know the form.

use serde_json::{Value, json};

use crate::model::{CompletionRequest, ResponseFormat};

/// How the form of the answer is asked for beyond the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answering {
    /// By the schema.
    Schema,
    /// As an object.
    Object,
    /// By the words alone.
    Words,
}

/// A form of a question. Servers refuse what they do not know, each something else; what they may refuse goes, one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestForm {
    answering: Answering,
    has_temperature: bool,
    /// Newer models know the longest answer by another name.
    has_new_limit: bool,
}

impl RequestForm {
    /// Returns the form that is tried first.
    pub(super) fn first(shape: ResponseFormat<'_>) -> Self {
        let answering = match shape {
            ResponseFormat::Text => Answering::Words,
            ResponseFormat::Json => Answering::Object,
            ResponseFormat::Schema(_) => Answering::Schema,
        };
        Self { answering, has_temperature: true, has_new_limit: false }
    }

    /// Returns the form that is tried after a refusal with this text, in lower case; `None` when nothing is left to try.
    pub(super) fn next(self, said: &str) -> Option<Self> {
        if self.has_temperature && said.contains("temperature") {
            return Some(Self { has_temperature: false, ..self });
        }
        if !self.has_new_limit && said.contains("max_tokens") {
            return Some(Self { has_new_limit: true, ..self });
        }
        let answering = match self.answering {
            Answering::Schema => Answering::Object,
            Answering::Object => Answering::Words,
            Answering::Words => return None,
        };
        Some(Self { answering, ..self })
    }

    /// Writes the form into the body of a question.
    pub(super) fn write(self, body: &mut Value, question: &CompletionRequest<'_>) {
        let limit = if self.has_new_limit { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(question.max_tokens);
        if self.has_temperature {
            body["temperature"] = json!(0);
        }
        match (self.answering, question.shape) {
            (Answering::Schema, ResponseFormat::Schema(schema)) => {
                // Not strict: that refuses schemas which leave anything open, and the answer is validated all the same.
                let schema = json!({ "name": "answer", "schema": schema, "strict": false });
                body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
            }
            (Answering::Schema | Answering::Object, _) => {
                body["response_format"] = json!({ "type": "json_object" });
            }
            (Answering::Words, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_goes_one_by_one() {
        let schema = json!({});
        let mut form = RequestForm::first(ResponseFormat::Schema(&schema));
        let mut left = Vec::new();
        for said in
            ["unsupported: temperature", "use max_completion_tokens, not max_tokens", "no", "temperature"]
        {
            form = form.next(said).unwrap();
            left.push((form.answering, form.has_temperature, form.has_new_limit));
        }
        assert_eq!(
            left,
            [
                (Answering::Schema, false, false),
                (Answering::Schema, false, true),
                (Answering::Object, false, true),
                (Answering::Words, false, true),
            ]
        );
        assert_eq!(form.next("max_tokens"), None);
    }
}
