//! Hostnames, and the hosts that results may come from.

use websvc_types::ViolationCode;
use websvc_types::limits::DOMAINS_MAX;

use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted};

/// The longest name of a host, and of one of its labels, in bytes (RFC 1035, section 2.3.4).
const HOST_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

/// The hosts results may come from: hostnames in lower case and ASCII form, each once, never an empty list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DomainFilter {
    /// All.
    #[default]
    Any,
    /// Only these and their subdomains.
    Include(Vec<String>),
    /// All but these and their subdomains.
    Exclude(Vec<String>),
}

/// Checks both filters. An empty list counts as not given: clients send one beside a filled one.
pub(crate) fn filter(
    report: &mut Report,
    path: &Path<'_>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
) -> DomainFilter {
    let (include, exclude) = (include.unwrap_or_default(), exclude.unwrap_or_default());
    if !include.is_empty() && !exclude.is_empty() {
        report.violation(&path.key("excludeDomains"), ViolationCode::Conflict, |name| {
            format!("{name} cannot be given together with includeDomains")
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
    without_repetitions(hosts)
}

/// Returns each text once, in the order of their first places.
pub(crate) fn without_repetitions(texts: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::with_capacity(texts.len());
    let new: Vec<bool> = texts.iter().map(|text| seen.insert(text.as_str())).collect();
    texts.into_iter().zip(new).filter_map(|(text, new)| new.then_some(text)).collect()
}

/// Returns a hostname in lower case and ASCII form (UTS 46), or `None` when it is none.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_suffix('.').unwrap_or(text);
    if is_canonical(text) {
        return Some(text.to_owned());
    }
    // Longer texts cannot become short enough, and converting them takes long.
    if text.chars().count() > HOST_MAX_BYTES {
        return None;
    }
    let host = idna::domain_to_ascii(text).ok()?;
    (host.len() <= HOST_MAX_BYTES && host.split('.').all(is_label)).then_some(host)
}

/// Tells whether a text is in its final form already, as most are.
fn is_canonical(text: &str) -> bool {
    text.len() <= HOST_MAX_BYTES
        && text.split('.').all(|label| {
            label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                && is_label(label)
                // What begins like a label in ASCII form has to be one (RFC 5891, section 4.2.3.1).
                && label.get(2..4) != Some("--")
        })
        // A last label of digits would be an address.
        && text.ends_with(|last: char| last.is_ascii_lowercase())
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_MAX_BYTES).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}
