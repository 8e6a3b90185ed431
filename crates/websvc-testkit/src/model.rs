//! A stand-in for an OpenAI-compatible endpoint: it answers by a script, or by a function of what it is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

type Responder = dyn Fn(&Value) -> Page + Send + Sync;

/// An endpoint. What it is asked is in the requests of the world that serves it.
#[derive(Clone)]
pub struct FakeModel {
    turns: Arc<Mutex<VecDeque<Page>>>,
    say: Arc<Responder>,
}

impl FakeModel {
    /// Returns an endpoint that gives these answers, one after the other, and then fails.
    #[must_use]
    pub fn scripted(turns: impl IntoIterator<Item = Page>) -> Self {
        let this = Self::answering(|_| Page::text("the script is over").status(500));
        this.then(turns);
        this
    }

    /// Returns an endpoint that answers each body by a function.
    #[must_use]
    pub fn answering(say: impl Fn(&Value) -> Page + Send + Sync + 'static) -> Self {
        Self { turns: Arc::default(), say: Arc::new(say) }
    }

    /// Adds answers, which come before those of the function.
    pub fn then(&self, turns: impl IntoIterator<Item = Page>) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).extend(turns);
    }

    /// Puts the endpoint at an address such as `http://model.test/v1`. The list of its models has `tiny`.
    #[must_use]
    pub fn serve(&self, world: TestWebBuilder, base: &str) -> TestWebBuilder {
        let (chat, rerank) = (self.clone(), self.clone());
        let models = json!({ "object": "list", "data": [{ "id": "tiny", "object": "model" }] });
        world
            .page_with(&format!("{base}/chat/completions"), move |seen| chat.answer(seen))
            .page_with(&format!("{base}/rerank"), move |seen| rerank.answer(seen))
            .page(&format!("{base}/models"), Page::new("application/json", models.to_string()))
    }

    fn answer(&self, seen: &ReceivedRequest) -> Page {
        let turn = self.turns.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Ok(body) = serde_json::from_slice(&seen.body) else {
            return Page::text("not JSON").status(400);
        };
        turn.unwrap_or_else(|| (self.say)(&body))
    }

    /// Returns the answer with a text.
    #[must_use]
    pub fn text(text: &str) -> Page {
        let answer = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": text },
                "finish_reason": "stop",
            }],
            "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 },
        });
        Page::new("application/json", answer.to_string())
    }

    /// Returns the answer with JSON as its text.
    #[must_use]
    pub fn json(value: &Value) -> Page {
        Self::text(&value.to_string())
    }

    /// Returns the refusal of a request with this message.
    #[must_use]
    pub fn refusal(message: &str) -> Page {
        let error = json!({ "error": { "message": message, "type": "invalid_request_error" } });
        Page::new("application/json", error.to_string()).status(400)
    }

    /// Returns the words of a question: what it is to do, and what it is asked.
    #[must_use]
    pub fn words(body: &Value) -> String {
        let messages = body["messages"].as_array().into_iter().flatten();
        let contents: Vec<&str> = messages.filter_map(|message| message["content"].as_str()).collect();
        contents.join("\n\n")
    }
}
