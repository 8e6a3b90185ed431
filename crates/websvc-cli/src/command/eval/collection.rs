//! The files of an evaluation: queries and relevance judgments.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use url::Url;

use crate::command::input::Input;

/// Maximum bytes of a file.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of queries.
const MAX_QUERIES: usize = 100_000;

/// The positive grades of the URLs of each query.
pub(super) type Judgments = BTreeMap<String, BTreeMap<String, f64>>;

/// A query with its ID.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JudgedQuery {
    pub(super) id: String,
    pub(super) text: String,
}

/// Reads queries: lines of JSON with `_id` and `text`, or of an ID, a tab and a text.
pub(super) fn read_queries(path: &Path) -> Result<Vec<JudgedQuery>> {
    let Input { name, text } = read(path)?;
    parse_lines(&name, &text, query)
}

/// Reads judgments in the format of TREC: query, iteration, URL, grade. The iteration may be missing, and the first line
/// may be a head.
pub(super) fn read_judgments(path: &Path) -> Result<Judgments> {
    let Input { name, text } = read(path)?;
    let body = match text.split_once('\n') {
        Some((head, body)) if is_head(head) => body,
        _ => &text,
    };
    let lines = parse_lines(&name, body, judgment)?;
    let mut judgments = Judgments::new();
    for (query, url, grade) in lines {
        let grades = judgments.entry(query).or_default();
        if grade > 0.0 {
            let known = grades.entry(url).or_default();
            *known = grade.max(*known);
        }
    }
    judgments.retain(|_, grades| !grades.is_empty());
    Ok(judgments)
}

/// Returns a URL in its normal form, so that two spellings are equal; `None` for other texts.
pub(super) fn normalized(url: &str) -> Option<String> {
    Url::parse(url).ok().map(String::from)
}

fn read(path: &Path) -> Result<Input> {
    let input = Input::read(path, MAX_BYTES)?;
    ensure!(input.text.len() as u64 <= MAX_BYTES, "{} has more than {MAX_BYTES} bytes", input.name);
    Ok(input)
}

fn parse_lines<T>(name: &str, text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let parsed = lines.map(|(number, line)| parse(line).with_context(|| format!("{name}, line {number}")));
    let parsed: Vec<T> = parsed.collect::<Result<_>>()?;
    ensure!(!parsed.is_empty(), "{name} is empty");
    Ok(parsed)
}

fn query(line: &str) -> Result<JudgedQuery> {
    let (id, text) = if line.trim_start().starts_with('{') {
        let value: Value = serde_json::from_str(line)?;
        let text = |key: &str| match &value[key] {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => bail!("the text {key:?} is missing"),
        };
        (text("_id")?, text("text")?)
    } else {
        let (id, text) = line
            .split_once('\t')
            .context("the line is neither JSON with \"_id\" and \"text\" nor an ID, a tab and a text")?;
        (id.to_owned(), text.to_owned())
    };
    let (id, text) = (id.trim().to_owned(), text.trim().to_owned());
    ensure!(!id.is_empty() && !text.is_empty(), "the query has no ID or no text");
    Ok(JudgedQuery { id, text })
}

fn judgment(line: &str) -> Result<(String, String, f64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let ([query, _, url, grade] | [query, url, grade]) = *fields else {
        bail!("the line has {} fields, not 4 (query, 0, URL, grade) or 3 (query, URL, grade)", fields.len())
    };
    let url = normalized(url).with_context(|| format!("{url:?} is not a URL"))?;
    let number = grade.parse().ok().filter(|grade: &f64| grade.is_finite());
    Ok((query.to_owned(), url, number.with_context(|| format!("the grade {grade:?} is not a number"))?))
}

/// Returns true for a first line with the names of the fields.
fn is_head(line: &str) -> bool {
    line.split_whitespace().last().is_some_and(|grade| grade.parse::<f64>().is_err()) && !line.contains("://")
}

/// Returns an error if there are more queries than an evaluation measures.
pub(super) fn check_count(queries: &[JudgedQuery]) -> Result<()> {
    ensure!(queries.len() <= MAX_QUERIES, "{} queries are more than {MAX_QUERIES}", queries.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_json_or_separated_by_tabs() {
        let expected = JudgedQuery { id: "7".to_owned(), text: "green tea".to_owned() };
        for line in
            [r#"{"_id": "7", "text": "green tea"}"#, r#"{"_id": 7, "text": " green tea "}"#, "7\tgreen tea"]
        {
            assert_eq!(query(line).unwrap(), expected, "{line}");
        }
        for (line, message) in [
            ("green tea", "neither JSON"),
            (r#"{"_id": "7"}"#, "\"text\" is missing"),
            ("7\t ", "no ID or no text"),
        ] {
            let error = query(line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
    }

    #[test]
    fn judgments_have_a_url_and_a_grade() {
        let expected = ("q".to_owned(), "http://tea.test/".to_owned(), 2.0);
        for line in ["q 0 http://tea.test 2", "q\thttp://TEA.test/\t2"] {
            assert_eq!(judgment(line).unwrap(), expected, "{line}");
        }
        for (line, message) in [
            ("q 0 tea 1", "\"tea\" is not a URL"),
            ("q 0 http://tea.test good", "the grade \"good\" is not a number"),
            ("q 1", "2 fields"),
        ] {
            let error = judgment(line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
        assert!(is_head("query-id\tcorpus-id\tscore") && !is_head("q 0 http://tea.test x"));
    }
}
