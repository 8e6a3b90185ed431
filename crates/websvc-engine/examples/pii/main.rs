//! Evaluates `redactPII` with a language model: precision and recall by entity on the two groups of sentences of
//! `websvc-redact`. `cargo xtask eval pii` runs it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a program for developers")]

mod evaluation;
#[path = "../../../websvc-redact/tests/it/generators.rs"]
mod generators;
#[path = "../../../websvc-redact/tests/it/sentences.rs"]
mod sentences;
#[path = "../../../websvc-redact/tests/it/templates.rs"]
mod templates;

use std::error::Error;
use std::time::Duration;

use websvc_model::{OpenAi, OpenAiConfig};
use websvc_transport::{AddressGuard, Client, ClientConfig};

/// The environment variable with the key of the endpoint, if it requires one.
const KEY_VARIABLE: &str = "WEBSVC_LLM_KEY";

/// Number of times that each sentence is filled.
const ROUNDS: u32 = 10;

/// Time for a request to the model. Models on a processor are slow.
const TIMEOUT: Duration = Duration::from_secs(300);

const USAGE: &str = "usage: pii --llm URL --model NAME [--rounds N]";

/// The arguments of the program.
struct Arguments {
    url: String,
    model: String,
    rounds: u32,
}

impl Arguments {
    fn parse(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let (mut url, mut model, mut rounds) = (None, None, ROUNDS);
        let mut remaining = arguments;
        while let [name, value, rest @ ..] = remaining {
            match name.as_str() {
                "--llm" => url = Some(value.clone()),
                "--model" => model = Some(value.clone()),
                "--rounds" => {
                    rounds = value.parse().map_err(|_| format!("--rounds {value} is not a number"))?;
                }
                other => return Err(format!("unexpected argument {other}\n{USAGE}").into()),
            }
            remaining = rest;
        }
        match (remaining, url, model) {
            ([], Some(url), Some(model)) => Ok(Self { url, model, rounds }),
            _ => Err(USAGE.into()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Arguments { url, model, rounds } = Arguments::parse(&arguments)?;
    // The developer names the endpoint, which is often on this machine.
    let client = Client::new(ClientConfig::new(AddressGuard::open()))?;
    let mut config = OpenAiConfig::new(client, url.parse()?);
    config.api_key = std::env::var(KEY_VARIABLE).ok();
    config.model = Some(model.clone());
    config.timeout = TIMEOUT;
    let endpoint = OpenAi::new(config)?;
    let mut unread = true;
    for (group, sentences) in [
        ("development sentences", templates::DEVELOPMENT),
        ("second group of sentences", templates::HELD_OUT),
    ] {
        let evaluation = evaluation::evaluate(&endpoint, sentences, rounds, TIMEOUT).await;
        println!("redactPII with the model {model}, {group}:\n\n{evaluation}\n");
        unread &= evaluation.unread == evaluation.documents;
    }
    if unread {
        return Err("the model read no document: check the URL, the name of the model and its key".into());
    }
    Ok(())
}
