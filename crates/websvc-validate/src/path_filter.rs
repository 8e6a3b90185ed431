//! Which URLs of a site are wanted, by regular expressions.

use std::sync::Arc;

use url::{Position, Url};
use websvc_types::ViolationCode;
use websvc_types::limits::{PATH_PATTERN_MAX_CHARS, PATH_PATTERNS_MAX};

use crate::bounds;
use crate::error::Rejection;
use crate::path::Path;
use crate::path_pattern::CompileError;
use crate::path_patterns::{PathPatterns, PatternError, PatternLease, PatternRequest};
use crate::report::{Report, cut, quoted};

/// Longer reasons are cut: they repeat the sender's words.
const REASON_CHARS: usize = 160;

/// Which URLs of a site are wanted: those that match one of `include`, if there is any, and none of `exclude`. Comparing
/// takes time linear in the length of the URL.
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    /// The patterns of both; `None` without any.
    patterns: Option<Arc<PatternLease>>,
    include: Vec<usize>,
    exclude: Vec<usize>,
    on_whole_url: bool,
}

/// The expressions of a request.
#[derive(Debug, Default)]
pub(crate) struct PathLists {
    pub(crate) include: Option<Vec<String>>,
    pub(crate) exclude: Option<Vec<String>>,
    pub(crate) on_whole_url: bool,
}

impl PathFilter {
    /// Compiles expressions by the rules and within the bounds of requests; messages name them as requests do.
    ///
    /// # Errors
    /// [`Rejection`] names every expression that cannot be used.
    pub fn new(include: Vec<String>, exclude: Vec<String>, on_whole_url: bool) -> Result<Self, Rejection> {
        let mut report = Report::default();
        let lists = PathLists { include: Some(include), exclude: Some(exclude), on_whole_url };
        let filter = check(&mut report, lists, &PathPatterns::default(), is_short);
        report.finish(filter).map(|checked| checked.plan)
    }

    /// Returns whether a URL is wanted. Expressions match anywhere in the path, or in the whole URL where that was asked
    /// for.
    #[must_use]
    pub fn takes(&self, url: &Url) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        let text = if self.on_whole_url { &url[..Position::AfterQuery] } else { url.path() };
        let matches = |indexes: &[usize]| {
            indexes.iter().filter_map(|index| patterns.get(*index)).any(|pattern| pattern.is_match(text))
        };
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// Checks the expressions of a request, each of which `is_legal` lets through first.
pub(crate) fn check(
    report: &mut Report,
    lists: PathLists,
    patterns: &PathPatterns,
    is_legal: impl Fn(&mut Report, &Path<'_>, &str) -> bool,
) -> PathFilter {
    let body = Path::Root;
    let mut request = patterns.request();
    let mut indexes = |key: &str, texts: Option<Vec<String>>| {
        compile(report, &mut request, &body.key(key), &texts.unwrap_or_default(), &is_legal)
    };
    let include = indexes("includePaths", lists.include);
    let exclude = indexes("excludePaths", lists.exclude);
    if include.is_empty() && exclude.is_empty() {
        return PathFilter::default();
    }
    match request.lease() {
        Ok(lease) => {
            let patterns = Some(Arc::new(lease));
            PathFilter { patterns, include, exclude, on_whole_url: lists.on_whole_url }
        }
        Err(message) => {
            report.exhausted(message);
            PathFilter::default()
        }
    }
}

/// Checks the length of an expression of a map.
pub(crate) fn is_short(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    bounds::chars(report, path, text, 0, PATH_PATTERN_MAX_CHARS)
}

/// Compiles the expressions of a list, each once, and returns their indexes.
fn compile(
    report: &mut Report,
    request: &mut PatternRequest,
    path: &Path<'_>,
    texts: &[String],
    is_legal: &impl Fn(&mut Report, &Path<'_>, &str) -> bool,
) -> Vec<usize> {
    let mut indexes = Vec::new();
    if !bounds::items(report, path, texts.len(), PATH_PATTERNS_MAX) {
        return indexes;
    }
    for (index, text) in texts.iter().enumerate() {
        let path = path.index(index);
        if !is_legal(report, &path, text) {
            continue;
        }
        match request.add(text) {
            Ok(index) if indexes.contains(&index) => {}
            Ok(index) => indexes.push(index),
            Err(error) => {
                violate(report, &path, text, &error);
                if matches!(error, PatternError::RequestFull(_)) {
                    // There is no room for any other, either.
                    break;
                }
            }
        }
    }
    indexes
}

fn violate(report: &mut Report, path: &Path<'_>, text: &str, error: &PatternError) {
    match error {
        PatternError::Compile(CompileError::Syntax(why)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                // The reason is the last line; those before it draw where it is.
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!(
                    "{name} must be a regular expression, not {}: {}",
                    quoted(text),
                    cut(why, REASON_CHARS)
                )
            });
        }
        PatternError::Compile(CompileError::TooBig(limit)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!(
                    "{name} must take at most {limit} bytes of memory when it is compiled, which {} does not: use \
                     smaller repetitions",
                    quoted(text)
                )
            });
        }
        PatternError::RequestFull(limit) => report.violation(path, ViolationCode::TooBig, |name| {
            format!(
                "{name} is one too many: with {} includePaths and excludePaths take more than {limit} bytes of memory \
                 when they are compiled; use fewer of them or smaller repetitions",
                quoted(text)
            )
        }),
    }
}
