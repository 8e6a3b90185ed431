//! A fake of an OpenAI-compatible endpoint: responds by a script, or by a function of the request body.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

type Responder = dyn Fn(&Value) -> Page + Send + Sync;

/// A fake endpoint. The requests to it are those of the test web that serves it.
#[derive(Clone)]
pub struct FakeModel {
    /// The next responses, before those of the responder.
    queue: Arc<Mutex<VecDeque<Page>>>,
    responder: Arc<Responder>,
}

impl FakeModel {
    /// Creates an endpoint that returns these responses in order, and then errors.
    #[must_use]
    pub fn scripted(responses: impl IntoIterator<Item = Page>) -> Self {
        let this = Self::with_responder(|_| Page::text("the script has no more responses").status(500));
        this.push_responses(responses);
        this
    }

    /// Creates an endpoint whose responses a function of the request body returns.
    #[must_use]
    pub fn with_responder(responder: impl Fn(&Value) -> Page + Send + Sync + 'static) -> Self {
        Self { queue: Arc::default(), responder: Arc::new(responder) }
    }

    /// Adds responses, which come before those of the responder.
    pub fn push_responses(&self, responses: impl IntoIterator<Item = Page>) {
        self.queue.lock().extend(responses);
    }

    /// Serves the endpoint at a URL such as `http://model.test/v1`. Its list of models contains `tiny`.
    #[must_use]
    pub fn serve(&self, web: TestWebBuilder, base: &str) -> TestWebBuilder {
        let (chat, rerank, embeddings) = (self.clone(), self.clone(), self.clone());
        let models = json!({ "object": "list", "data": [{ "id": "tiny", "object": "model" }] });
        web.page_with(&format!("{base}/chat/completions"), move |request| chat.respond(request))
            .page_with(&format!("{base}/rerank"), move |request| rerank.respond(request))
            .page_with(&format!("{base}/embeddings"), move |request| embeddings.respond(request))
            .page(&format!("{base}/models"), Page::new("application/json", models.to_string()))
    }

    fn respond(&self, request: &ReceivedRequest) -> Page {
        let queued = self.queue.lock().pop_front();
        let Ok(body) = serde_json::from_slice(&request.body) else {
            return Page::text("not JSON").status(400);
        };
        queued.unwrap_or_else(|| (self.responder)(&body))
    }

    /// Returns a response with this text.
    #[must_use]
    pub fn text(text: &str) -> Page {
        let response = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": text },
                "finish_reason": "stop",
            }],
            "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 },
        });
        Page::new("application/json", response.to_string())
    }

    /// Returns a response with this JSON as its text.
    #[must_use]
    pub fn json(value: &Value) -> Page {
        Self::text(&value.to_string())
    }

    /// Returns the error of a bad request (400) with this message.
    #[must_use]
    pub fn bad_request(message: &str) -> Page {
        let error = json!({ "error": { "message": message, "type": "invalid_request_error" } });
        Page::new("application/json", error.to_string()).status(400)
    }

    /// Returns the contents of all messages of a request.
    #[must_use]
    pub fn prompt_text(body: &Value) -> String {
        let messages = body["messages"].as_array().into_iter().flatten();
        let contents: Vec<&str> = messages.filter_map(|message| message["content"].as_str()).collect();
        contents.join("\n\n")
    }
}
