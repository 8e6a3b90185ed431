//! Hostnames, and the filter of results by host.

use websvc_types::ViolationCode;
use websvc_types::limits::DOMAINS_MAX;

use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted};

/// Maximum length of a hostname, in bytes (RFC 1035, section 2.3.4).
const HOST_MAX_BYTES: usize = 253;

/// Maximum length of a label of a hostname, in bytes.
const LABEL_MAX_BYTES: usize = 63;

/// Filter of results by host. The lists are not empty and have hostnames in lower case and ASCII form, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DomainFilter {
    /// Allows all hosts.
    #[default]
    Any,
    /// Allows only these hosts and their subdomains.
    Include(Vec<String>),
    /// Allows all hosts except these and their subdomains.
    Exclude(Vec<String>),
}

/// Checks both lists. An empty list counts as absent, because clients send one together with a non-empty one.
pub(crate) fn filter(
    report: &mut Report,
    path: &Path<'_>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
) -> DomainFilter {
    let (include, exclude) = (include.unwrap_or_default(), exclude.unwrap_or_default());
    if !include.is_empty() && !exclude.is_empty() {
        report.violation(&path.key("excludeDomains"), ViolationCode::Conflict, |name| {
            format!("{name} cannot be combined with includeDomains")
        });
    }
    let include = hosts(report, &path.key("includeDomains"), &include);
    let exclude = hosts(report, &path.key("excludeDomains"), &exclude);
    match (include.is_empty(), exclude.is_empty()) {
        (false, _) => DomainFilter::Include(include),
        (true, false) => DomainFilter::Exclude(exclude),
        (true, true) => DomainFilter::Any,
    }
}

fn hosts(report: &mut Report, path: &Path<'_>, texts: &[String]) -> Vec<String> {
    let mut hosts = Vec::with_capacity(texts.len().min(DOMAINS_MAX));
    if !bounds::items(report, path, texts.len(), DOMAINS_MAX) {
        return hosts;
    }
    for (index, text) in texts.iter().enumerate() {
        match canonical(text) {
            Some(host) => hosts.push(host),
            None => report.violation(&path.index(index), ViolationCode::InvalidFormat, |name| {
                let expected = "a hostname without protocol, port and path, such as example.com";
                format!("{name} must be {expected}, not {}", quoted(text))
            }),
        }
    }
    deduplicate(hosts)
}

/// Returns each text once, in the order of its first occurrence.
pub(crate) fn deduplicate(texts: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::with_capacity(texts.len());
    let is_first: Vec<bool> = texts.iter().map(|text| seen.insert(text.as_str())).collect();
    texts.into_iter().zip(is_first).filter_map(|(text, is_first)| is_first.then_some(text)).collect()
}

/// Returns a hostname in lower case and ASCII form (UTS 46), or `None` if the text is not a hostname.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_suffix('.').unwrap_or(text);
    if is_canonical(text) {
        return Some(text.to_owned());
    }
    // A longer text cannot become a valid hostname, and its conversion would be slow.
    if text.chars().count() > HOST_MAX_BYTES {
        return None;
    }
    let host = idna::domain_to_ascii(text).ok()?;
    (host.len() <= HOST_MAX_BYTES && host.split('.').all(is_label)).then_some(host)
}

/// Returns whether a text is already in canonical form, as most are.
fn is_canonical(text: &str) -> bool {
    text.len() <= HOST_MAX_BYTES
        && text.split('.').all(|label| {
            label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                && is_label(label)
                // "--" in this position marks an encoded label, which needs validation (RFC 5891, section 4.2.3.1).
                && label.get(2..4) != Some("--")
        })
        // A last label of digits would make it an IP address.
        && text.ends_with(|last: char| last.is_ascii_lowercase())
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_MAX_BYTES).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}
