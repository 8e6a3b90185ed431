//! Removes what only the work on a job needs, and is private, when the job has ended: users and passwords of URLs, and
//! headers of the caller.
//!
//! While it runs they are in the database, because a job goes on after a restart.

use rusqlite::{Transaction, params};
use serde_json::Value;

/// Headers of the caller, by their name in requests.
const HEADERS: &str = "headers";

/// Removes the credentials of a job that has ended.
pub(super) fn remove(transaction: &Transaction<'_>, job: i64) -> rusqlite::Result<()> {
    let request: String = transaction
        .prepare_cached("SELECT request FROM jobs WHERE number = ?1")?
        .query_row([job], |row| row.get(0))?;
    if let Some(request) = without_secrets(&request) {
        transaction
            .prepare_cached("UPDATE jobs SET request = ?2 WHERE number = ?1")?
            .execute(params![job, request])?;
    }
    let rows: Vec<(i64, String)> = transaction
        .prepare_cached(
            "SELECT place, url FROM job_urls WHERE job = ?1 AND (instr(url, '@') > 0 OR instr(key, '@') > 0)",
        )?
        .query_map([job], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut update = transaction.prepare_cached(
        // Nothing is compared with the keys of a job that has ended; they only have to differ.
        "UPDATE job_urls SET url = ?3, key = 'ended ' || place WHERE job = ?1 AND place = ?2",
    )?;
    for (place, url) in rows {
        if let Some(bare) = without_credentials(&url) {
            update.execute(params![job, place, bare])?;
        }
    }
    Ok(())
}

/// Returns a request without headers and credentials; `None` when it has none.
fn without_secrets(request: &str) -> Option<String> {
    if !request.contains('@') && !request.contains("\"headers\"") {
        return None;
    }
    let mut value: Value = serde_json::from_str(request).ok()?;
    clean(&mut value).then(|| value.to_string())
}

/// Returns whether something was removed.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let had = fields.get(HEADERS).is_some_and(|headers| !headers.is_null());
            if had {
                fields.remove(HEADERS);
            }
            fields.values_mut().fold(had, |changed, field| clean(field) | changed)
        }
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| clean(item) | changed),
        Value::String(text) => match without_credentials(text) {
            Some(bare) => {
                *text = bare;
                true
            }
            None => false,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns a URL without its user and password (RFC 3986, section 3.2.1); `None` for what has none, or is no URL of a
/// page.
fn without_credentials(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    Some(format!("{scheme}://{}", &rest[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_user_and_the_password_of_a_url_are_removed() {
        for (url, expected) in [
            ("http://user:pa@ss@a.test/x@y?z=@", Some("http://a.test/x@y?z=@")),
            ("https://user@a.test", Some("https://a.test")),
            ("http://a.test/x@y", None),
            ("http://a.test?@", None),
            ("mail@a.test", None),
        ] {
            assert_eq!(without_credentials(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn headers_and_credentials_leave_a_request_wherever_they_are() {
        let request =
            r#"{"crawl":{"scrapeOptions":{"headers":{"authorization":"x"}},"url":"http://u:p@a.test/"}}"#;
        let expected = r#"{"crawl":{"scrapeOptions":{},"url":"http://a.test/"}}"#;
        assert_eq!(without_secrets(request).as_deref(), Some(expected));
        assert_eq!(without_secrets(r#"{"warnings":["a@b"]}"#), None);
    }
}
