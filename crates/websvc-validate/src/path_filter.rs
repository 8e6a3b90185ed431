//! Filter of URLs by regular expressions: `includePaths` and `excludePaths`.

use std::sync::Arc;

use url::{Position, Url};
use websvc_types::ViolationCode;
use websvc_types::limits::{PATH_PATTERN_MAX_CHARS, PATH_PATTERNS_MAX};

use crate::bounds;
use crate::error::Rejection;
use crate::path::Path;
use crate::path_pattern::CompileError;
use crate::path_patterns::{PathPatterns, PatternError, PatternLease, PatternRequest};
use crate::report::{Report, quoted, truncated};

/// Maximum length of the reason in a message, because it repeats text of the request.
const MAX_REASON_CHARS: usize = 160;

/// Filter of URLs: a URL matches if it matches one of the `include` patterns, or there are none, and none of the
/// `exclude` patterns. Matching takes time linear in the length of the URL.
///
/// ```
/// use websvc_validate::PathFilter;
///
/// let filter = PathFilter::new(vec!["^/docs/".to_owned()], vec!["/old/".to_owned()], false)?;
/// assert!(filter.matches(&"https://a.example/docs/guide".parse().unwrap()));
/// assert!(!filter.matches(&"https://a.example/docs/old/guide".parse().unwrap()));
/// # Ok::<(), websvc_validate::Rejection>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    /// Compiled patterns; `None` if there are none.
    patterns: Option<Arc<PatternLease>>,
    /// Indexes of the include patterns.
    include: Vec<usize>,
    /// Indexes of the exclude patterns.
    exclude: Vec<usize>,
    /// True if the patterns match the full URL instead of the path.
    on_full_url: bool,
}

/// Patterns of a request.
#[derive(Debug, Default)]
pub(crate) struct PathLists {
    pub(crate) include: Option<Vec<String>>,
    pub(crate) exclude: Option<Vec<String>>,
    pub(crate) on_full_url: bool,
}

impl PathFilter {
    /// Compiles patterns by the rules and within the memory limits of requests.
    ///
    /// # Errors
    /// [`Rejection`] lists every invalid pattern, under the field names of requests.
    pub fn new(include: Vec<String>, exclude: Vec<String>, on_full_url: bool) -> Result<Self, Rejection> {
        let mut report = Report::default();
        let lists = PathLists { include: Some(include), exclude: Some(exclude), on_full_url };
        let filter = check(&mut report, lists, &PathPatterns::default(), has_valid_length);
        report.finish(Some(filter)).map(|checked| checked.plan)
    }

    /// Returns whether a URL passes the filter. Patterns match anywhere in the path, or anywhere in the full URL if
    /// `on_full_url` was set.
    #[must_use]
    pub fn matches(&self, url: &Url) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        let text = if self.on_full_url { &url[..Position::AfterQuery] } else { url.path() };
        let matches_any = |indexes: &[usize]| {
            indexes.iter().filter_map(|index| patterns.get(*index)).any(|pattern| pattern.is_match(text))
        };
        (self.include.is_empty() || matches_any(&self.include)) && !matches_any(&self.exclude)
    }
}

/// Checks and compiles the patterns of a request. `has_valid_length` checks each pattern first.
pub(crate) fn check(
    report: &mut Report,
    lists: PathLists,
    patterns: &PathPatterns,
    has_valid_length: impl Fn(&mut Report, &Path<'_>, &str) -> bool,
) -> PathFilter {
    let body = Path::Root;
    let mut request = patterns.request();
    let mut indexes = |key: &str, texts: Option<Vec<String>>| {
        compile(report, &mut request, &body.key(key), &texts.unwrap_or_default(), &has_valid_length)
    };
    let include = indexes("includePaths", lists.include);
    let exclude = indexes("excludePaths", lists.exclude);
    if include.is_empty() && exclude.is_empty() {
        return PathFilter::default();
    }
    match request.lease() {
        Ok(lease) => {
            let patterns = Some(Arc::new(lease));
            PathFilter { patterns, include, exclude, on_full_url: lists.on_full_url }
        }
        Err(message) => {
            report.exhausted(message);
            PathFilter::default()
        }
    }
}

/// Checks the length of a pattern of a map, and returns whether it is valid.
pub(crate) fn has_valid_length(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    bounds::chars(report, path, text, 0, PATH_PATTERN_MAX_CHARS)
}

/// Compiles the patterns of a list, and returns their distinct indexes.
fn compile(
    report: &mut Report,
    request: &mut PatternRequest,
    path: &Path<'_>,
    texts: &[String],
    has_valid_length: &impl Fn(&mut Report, &Path<'_>, &str) -> bool,
) -> Vec<usize> {
    let mut indexes = Vec::new();
    if !bounds::items(report, path, texts.len(), PATH_PATTERNS_MAX) {
        return indexes;
    }
    for (index, text) in texts.iter().enumerate() {
        let path = path.index(index);
        if !has_valid_length(report, &path, text) {
            continue;
        }
        match request.add(text) {
            Ok(index) if indexes.contains(&index) => {}
            Ok(index) => indexes.push(index),
            Err(error) => {
                report_error(report, &path, text, &error);
                if matches!(error, PatternError::RequestFull(_)) {
                    // No further pattern would fit, either.
                    break;
                }
            }
        }
    }
    indexes
}

fn report_error(report: &mut Report, path: &Path<'_>, text: &str, error: &PatternError) {
    match error {
        PatternError::Compile(CompileError::Syntax(reason)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                // The last line is the reason; the lines before it mark the position.
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!(
                    "{name} must be a regular expression, not {}: {}",
                    quoted(text),
                    truncated(reason, MAX_REASON_CHARS)
                )
            });
        }
        PatternError::Compile(CompileError::TooBig(limit)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!(
                    "{name} must take at most {limit} bytes of memory when it is compiled; {} takes more: use smaller \
                     repetitions",
                    quoted(text)
                )
            });
        }
        PatternError::RequestFull(limit) => report.violation(path, ViolationCode::TooBig, |name| {
            format!(
                "{name} exceeds the memory limit of includePaths and excludePaths: with {} they take more than {limit} \
                 bytes when they are compiled; use fewer of them or smaller repetitions",
                quoted(text)
            )
        }),
    }
}
