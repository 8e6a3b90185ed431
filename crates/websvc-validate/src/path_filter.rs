//! Which URLs of a site are wanted, by regular expressions.

use regex::{Regex, RegexBuilder};
use url::{Position, Url};
use websvc_types::ViolationCode;
use websvc_types::limits::{PATH_PATTERN_MAX_CHARS, PATH_PATTERNS_MAX};

use crate::bounds;
use crate::error::Rejection;
use crate::path::Path;
use crate::report::{Report, cut, quoted};

/// The memory of one compiled expression: repetitions of repetitions grow without bound.
const PATTERN_MAX_BYTES: usize = 1 << 20;

/// Longer reasons are cut: they repeat the sender's words.
const REASON_CHARS: usize = 160;

/// Which URLs of a site are wanted: those that match one of `include`, if there is any, and none of `exclude`. Comparing
/// takes time linear in the length of the URL.
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    on_whole_url: bool,
}

impl PathFilter {
    /// Compiles expressions by the rules and within the bounds of requests; messages name them as requests do.
    ///
    /// # Errors
    /// [`Rejection`] names every expression that cannot be used.
    pub fn new(include: Vec<String>, exclude: Vec<String>, on_whole_url: bool) -> Result<Self, Rejection> {
        let mut report = Report::default();
        let filter = check(&mut report, &Path::Root, Some(include), Some(exclude), on_whole_url);
        report.finish(filter).map(|checked| checked.plan)
    }

    /// Returns whether a URL is wanted. Expressions match anywhere in the path, or in the whole URL where that was asked
    /// for.
    #[must_use]
    pub fn takes(&self, url: &Url) -> bool {
        let text = if self.on_whole_url { &url[..Position::AfterQuery] } else { url.path() };
        let matches = |patterns: &[Regex]| patterns.iter().any(|pattern| pattern.is_match(text));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// Checks the expressions of a request.
pub(crate) fn check(
    report: &mut Report,
    body: &Path<'_>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    on_whole_url: bool,
) -> PathFilter {
    PathFilter {
        include: patterns(report, &body.key("includePaths"), &include.unwrap_or_default()),
        exclude: patterns(report, &body.key("excludePaths"), &exclude.unwrap_or_default()),
        on_whole_url,
    }
}

fn patterns(report: &mut Report, path: &Path<'_>, texts: &[String]) -> Vec<Regex> {
    let mut patterns = Vec::new();
    if !bounds::items(report, path, texts.len(), PATH_PATTERNS_MAX) {
        return patterns;
    }
    for (index, text) in texts.iter().enumerate() {
        let path = path.index(index);
        if !bounds::chars(report, &path, text, 0, PATH_PATTERN_MAX_CHARS) {
            continue;
        }
        match RegexBuilder::new(text).size_limit(PATTERN_MAX_BYTES).build() {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => report.violation(&path, ViolationCode::InvalidFormat, |name| {
                let why = error.to_string();
                // The reason is the last line; those before it draw where it is.
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!(
                    "{name} must be a regular expression, not {}: {}",
                    quoted(text),
                    cut(why, REASON_CHARS)
                )
            }),
        }
    }
    patterns
}
