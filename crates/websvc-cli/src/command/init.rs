//! `websvc init`: asks five questions, and writes a commented configuration.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::Value;

use crate::args::{Init, check_listen, quoted};
use crate::output;

/// The answers, with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answers {
    listen: String,
    public_url: Option<String>,
    /// Email address or URL for the owners of the public APIs that are searched; `None` to search none.
    open_web_contact: Option<String>,
    model: Option<LanguageModel>,
    has_browser: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LanguageModel {
    base_url: String,
    model: String,
}

impl Default for Answers {
    fn default() -> Self {
        let listen = crate::config::Config::default().server.listen;
        Self { listen, public_url: None, open_web_contact: None, model: None, has_browser: true }
    }
}

/// Runs `websvc init`.
pub(crate) fn run(arguments: &Init) -> Result<()> {
    let Init { output: file, force, yes } = arguments;
    if file.exists() && !force {
        bail!("{} exists: give another file with --output, or replace it with --force", file.display());
    }
    let answers = if *yes { Answers::default() } else { ask(&mut io::stdin().lock())? };
    write(file, &answers.configuration(), *force)?;
    output::note(&format!(
        "wrote {}; start the service with\n  websvc serve --config {}",
        file.display(),
        quoted(&file.to_string_lossy())
    ));
    Ok(())
}

/// Writes a file that only its owner may read, because keys may be added to it.
fn write(file: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(!force).create(true).truncate(force);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let opened = options.open(file).with_context(|| format!("cannot create {}", file.display()));
    Ok(opened?.write_all(text.as_bytes())?)
}

fn ask(input: &mut dyn BufRead) -> Result<Answers> {
    let mut answers = Answers::default();
    let mut questions = Questions { input };
    let others = questions.yes_or_no("1/5 May other machines use the service?", false)?;
    if others {
        answers.listen = questions.text("    Address to listen on", "0.0.0.0:3002", &|text| {
            check_listen(text).map_err(|error| error.to_string())
        })?;
        let url = questions.text(
            "    URL for clients, such as https://websvc.example.org (empty: none)",
            "",
            &is_url_or_empty,
        )?;
        answers.public_url = Some(url).filter(|url| !url.is_empty());
    }
    if questions.yes_or_no("2/5 Search public APIs too, such as Wikipedia?", true)? {
        let contact = "3/5 Your email address or URL, for the owners of these APIs (empty: none)";
        answers.open_web_contact = Some(questions.text(contact, "", &|_| Ok(()))?);
    }
    if questions
        .yes_or_no("4/5 Use a language model (OpenAI-compatible), for JSON, summaries and agents?", false)?
    {
        let base_url = questions.text("    Base URL", "http://127.0.0.1:11434/v1", &is_url)?;
        let model = questions.text("    Name of the model", "qwen3:8b", &|_| Ok(()))?;
        answers.model = Some(LanguageModel { base_url, model });
    }
    answers.has_browser = questions.yes_or_no("5/5 Render pages with Chromium, if it is installed?", true)?;
    Ok(answers)
}

fn is_url(text: &str) -> Result<(), String> {
    let is_web = url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if is_web { Ok(()) } else { Err(format!("{text:?} is not an http or https URL")) }
}

fn is_url_or_empty(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { is_url(text) }
}

/// Questions on stderr, with answers from a line of input each.
struct Questions<'a> {
    input: &'a mut dyn BufRead,
}

impl Questions<'_> {
    fn yes_or_no(&mut self, question: &str, default: bool) -> Result<bool> {
        let shown = if default { "Y/n" } else { "y/N" };
        loop {
            let answer = self.line(&format!("{question} [{shown}] "))?;
            match answer.to_ascii_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                other => output::note(&format!("    {other:?} is neither y nor n")),
            }
        }
    }

    fn text(
        &mut self,
        question: &str,
        default: &str,
        check: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<String> {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        loop {
            let answer = self.line(&format!("{question}{shown}: "))?;
            let answer = if answer.is_empty() { default.to_owned() } else { answer };
            match check(&answer) {
                Ok(()) => return Ok(answer),
                Err(problem) => output::note(&format!("    {problem}")),
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Result<String> {
        let mut stderr = io::stderr().lock();
        stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush())?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            bail!(
                "the input ended before the last answer: nothing was written; --yes takes the default answers"
            );
        }
        Ok(line.trim().to_owned())
    }
}

impl Answers {
    /// Returns the configuration, with the settings that people change most as comments.
    fn configuration(&self) -> String {
        let Self { listen, public_url, open_web_contact, model, has_browser } = self;
        // Without a value, the line is a comment with an example.
        let line = |key: &str, value: Option<&str>, example: &str| {
            let comment = if value.is_none() { "#" } else { "" };
            format!("{comment}{key} = {}", Value::String(value.unwrap_or(example).to_owned()))
        };
        let presets = if open_web_contact.is_some() { "" } else { "#" };
        let contact = open_web_contact.as_deref().filter(|contact| !contact.is_empty());
        let section = if model.is_some() { "[llm]" } else { "#[llm]" };
        let [base_url, name] = [
            line("base_url", model.as_ref().map(|model| &*model.base_url), "http://127.0.0.1:11434/v1"),
            line("model", model.as_ref().map(|model| &*model.model), "qwen3:8b"),
        ];
        let key = if model.is_some() { "\n#api_key = \"...\"" } else { "" };
        let values = [
            ("{listen}", line("listen", Some(listen), "")),
            ("{public_url}", line("public_url", public_url.as_deref(), "https://websvc.example.org")),
            ("{presets}", format!("{presets}presets = [\"open\"]")),
            ("{contact}", line("contact", contact, "you@example.com")),
            ("{concurrency}", format!("concurrency = {}", if *has_browser { 8 } else { 0 })),
            ("{llm}", format!("{section}\n{base_url}\n{name}{key}")),
        ];
        let lines = include_str!("init/template.toml").lines().map(|text| {
            let value = values.iter().find(|(name, _)| *name == text).map(|(_, value)| value.as_str());
            format!("{}\n", value.unwrap_or(text))
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn load(text: &str) -> config::Config {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.toml");
        write(&file, text, false).unwrap();
        config::load(&[file], std::iter::empty()).unwrap()
    }

    fn answered(input: &str) -> Result<Answers> {
        ask(&mut input.as_bytes())
    }

    #[test]
    fn default_answers_are_the_default_configuration() {
        let config = load(&Answers::default().configuration());
        let default = config::Config::default();
        assert_eq!(config.server.listen, default.server.listen);
        assert_eq!(config.search.providers, default.search.providers);
        assert_eq!(config.browser.concurrency, default.browser.concurrency);
    }

    #[test]
    fn answers_become_settings() {
        let answers = answered(
            "y\n\nftp://x\nhttps://web.test\n\nme@own.test\nyes\nhttp://127.0.0.1:1/v1\nsmall \"one\"\nno\n",
        );
        let config = load(&answers.unwrap().configuration());
        assert_eq!(config.server.listen, "0.0.0.0:3002");
        assert_eq!(config.server.public_url.as_deref(), Some("https://web.test"));
        assert_eq!(config.search.contact.as_deref(), Some("me@own.test"));
        assert!(config.search.providers.len() > 10, "{:?}", config.search.providers);
        assert_eq!(config.browser.concurrency, 0);
        assert_eq!(config.llm.model.as_deref(), Some("small \"one\""));
    }

    #[test]
    fn incomplete_input_writes_nothing() {
        let error = answered("maybe\nn\n").unwrap_err().to_string();
        assert!(error.contains("--yes"), "{error}");
    }

    #[test]
    fn existing_file_is_replaced_only_with_force() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.toml");
        let arguments = |force| Init { output: file.clone(), force, yes: true };
        run(&arguments(false)).unwrap();
        let error = run(&arguments(false)).unwrap_err().to_string();
        assert!(error.contains("--force"), "{error}");
        run(&arguments(true)).unwrap();
    }
}
