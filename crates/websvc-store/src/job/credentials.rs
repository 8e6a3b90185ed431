//! Removal of secrets from a job or a run that has ended: users and passwords in URLs, and request headers of the client.
//!
//! While it works they are in the database, because a job continues after a restart, and a run may have to wait.

use serde_json::Value;
use url::Url;
use websvc_transport::has_credentials;

use crate::sql::{self, Transaction, params};

/// The field of a request that contains headers for the host.
const HEADERS: &str = "headers";

/// The fields of the request of a run that may contain headers and URLs with credentials. Its prompt and its schema stay as
/// they are, because later runs of the thread repeat them.
const RUN_FIELDS: [&str; 2] = ["urls", "scrapeOptions"];

/// Removes the credentials of a job that has ended.
pub(super) fn remove(transaction: &Transaction<'_>, job: i64) -> sql::Result<()> {
    let request: String =
        transaction
            .query_row("SELECT request FROM jobs WHERE number = ?1", params![job], |row| row.get(0))?;
    if let Some(request) = without_secrets(&request) {
        transaction.execute("UPDATE jobs SET request = ?2 WHERE number = ?1", params![job, request])?;
    }
    let rows: Vec<(i64, String)> = transaction.query(
        "SELECT place, url FROM job_urls WHERE job = ?1 AND (url LIKE '%@%' OR key LIKE '%@%')",
        params![job],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    // No URL is added to a job that has ended, so its keys need not match anything. They only have to differ.
    let sql = "UPDATE job_urls SET url = ?3, key = 'ended ' || place WHERE job = ?1 AND place = ?2";
    for (place, url) in rows {
        if let Some(cleaned) = without_credentials(&url) {
            transaction.execute(sql, params![job, place, cleaned])?;
        }
    }
    Ok(())
}

/// Returns a request without headers and credentials; `None` if it has none.
fn without_secrets(request: &str) -> Option<String> {
    if !request.contains('@') && !request.contains("\"headers\"") {
        return None;
    }
    let mut value: Value = serde_json::from_str(request).ok()?;
    clean(&mut value).then(|| value.to_string())
}

/// Returns the stored request of a run without headers and credentials; `None` if it has none.
pub(crate) fn run_without_secrets(stored: &str) -> Option<String> {
    if !stored.contains('@') && !stored.contains("\"headers\"") {
        return None;
    }
    let mut value: Value = serde_json::from_str(stored).ok()?;
    let request = value.get_mut("request")?;
    let mut is_changed = false;
    for url in request.get_mut("urls").and_then(Value::as_array_mut).into_iter().flatten() {
        // The URLs are as sent: without a scheme, they are of http.
        if let Value::String(text) = url
            && !is_http_url(text)
            && let Some(cleaned) = without_credentials(&format!("http://{}", text.trim()))
        {
            *text = cleaned;
            is_changed = true;
        }
    }
    for name in RUN_FIELDS {
        is_changed |= request.get_mut(name).is_some_and(clean);
    }
    is_changed.then(|| value.to_string())
}

/// Removes headers and credentials from a value. Returns whether there were any.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let has_headers = fields.get(HEADERS).is_some_and(|headers| !headers.is_null());
            if has_headers {
                fields.shift_remove(HEADERS);
            }
            fields.values_mut().fold(has_headers, |changed, field| clean(field) | changed)
        }
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| clean(item) | changed),
        Value::String(text) => match without_credentials(text) {
            Some(cleaned) => {
                *text = cleaned;
                true
            }
            None => false,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns an HTTP URL without its user and password (RFC 3986, section 3.2.1); `None` for other texts, and for URLs
/// without them.
fn without_credentials(text: &str) -> Option<String> {
    without_written_credentials(text).or_else(|| {
        // Requests may have other spellings, such as `https:user@host`, because browsers accept them too.
        let url = Url::parse(text).ok().filter(|url| is_http(url) && has_credentials(url))?;
        Some(websvc_transport::without_credentials(&url).into())
    })
}

/// Does so for URLs with `://`. Everything else in the text stays as it is.
fn without_written_credentials(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim_start().split_once("://").filter(|_| has_http_scheme(text))?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    Some(format!("{scheme}://{}", &rest[at + 1..]))
}

fn is_http_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| is_http(&url))
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn has_http_scheme(text: &str) -> bool {
    let scheme = text.trim_start().split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_loses_only_user_and_password() {
        for (url, expected) in [
            ("http://user:pa@ss@a.test/x@y?z=@", Some("http://a.test/x@y?z=@")),
            ("https://user@a.test", Some("https://a.test")),
            ("http://a.test/x@y", None),
            ("http://a.test?@", None),
            ("https:user:pass@a.test/x", Some("https://a.test/x")),
            ("https:/user@a.test/x", Some("https://a.test/x")),
            (r"https:\\user@a.test/x", Some("https://a.test/x")),
            ("https:\t//user@a.test/x", Some("https://a.test/x")),
            ("https:a.test/x@y", None),
            ("ftp:/user@a.test/x", None),
            ("mail@a.test", None),
        ] {
            assert_eq!(without_credentials(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn headers_and_credentials_are_removed_at_any_depth() {
        let request =
            r#"{"crawl":{"scrapeOptions":{"headers":{"authorization":"x"}},"url":"http://u:p@a.test/"}}"#;
        let expected = r#"{"crawl":{"scrapeOptions":{},"url":"http://a.test/"}}"#;
        assert_eq!(without_secrets(request).as_deref(), Some(expected));
        assert_eq!(without_secrets(r#"{"warnings":["a@b"]}"#), None);
    }

    #[test]
    fn run_keeps_its_prompt_and_its_schema() {
        let schema = r#"{"properties":{"headers":{"type":"object"}}}"#;
        let stored = |urls: &str, options: &str| {
            format!(
                r#"{{"request":{{"prompt":"http://u:p@a.test/","schema":{schema},"scrapeOptions":{options},"urls":{urls}}}}}"#
            )
        };
        let found = run_without_secrets(&stored(
            r#"[" http://u:p@a.test/x","u:p@b.test/?to=http://x","https:u:p@d.test/","http://c.test/@"]"#,
            r#"{"headers":{"cookie":"x"}}"#,
        ));
        let expected = stored(
            r#"["http://a.test/x","http://b.test/?to=http://x","https://d.test/","http://c.test/@"]"#,
            "{}",
        );
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(found.as_deref().map(parse), Some(parse(&expected)));
        assert_eq!(run_without_secrets(&expected), None);
    }
}
