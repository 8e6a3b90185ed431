//! The warnings of a map.

use std::collections::BTreeMap;

/// The maximum number of unreadable files that are named. Further files are only counted.
const MAX_NAMED: usize = 5;

/// The problems that did not make the map fail.
#[derive(Debug, Default)]
pub(super) struct MapWarnings {
    warnings: Vec<String>,
    files: Vec<String>,
    more_files: usize,
    /// The number of skipped files by reason.
    add_skipped_files: BTreeMap<String, usize>,
}

impl MapWarnings {
    /// Adds a warning.
    pub(super) fn add(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Adds a warning about a file.
    pub(super) fn add_file_warning(&mut self, warning: String) {
        if self.files.len() < MAX_NAMED {
            self.files.push(warning);
        } else {
            self.more_files += 1;
        }
    }

    /// Counts skipped sitemaps.
    pub(super) fn add_skipped_files(&mut self, reason: impl Into<String>, count: usize) {
        if count > 0 {
            *self.add_skipped_files.entry(reason.into()).or_default() += count;
        }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        let mut warnings = self.warnings;
        warnings.extend(self.files);
        if self.more_files > 0 {
            let files = if self.more_files == 1 { "sitemap" } else { "sitemaps" };
            warnings.push(format!("{} more {files} could not be read completely", self.more_files));
        }
        for (reason, count) in self.add_skipped_files {
            let files = if count == 1 { "sitemap was" } else { "sitemaps were" };
            warnings.push(format!("{count} {files} not read: {reason}"));
        }
        warnings
    }
}
