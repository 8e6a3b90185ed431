//! What the caller is told beside the URLs.

use std::collections::BTreeMap;

/// So many files are named that could not be read; of the others the number is told.
const NAMED: usize = 5;

/// What went wrong without failing.
#[derive(Debug, Default)]
pub(super) struct MapWarnings {
    notes: Vec<String>,
    files: Vec<String>,
    more_files: usize,
    /// How many files were left out, by the reason.
    left_out: BTreeMap<String, usize>,
}

impl MapWarnings {
    /// Notes something.
    pub(super) fn add(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Notes what is the matter with a file.
    pub(super) fn of_file(&mut self, note: String) {
        if self.files.len() < NAMED {
            self.files.push(note);
        } else {
            self.more_files += 1;
        }
    }

    /// Notes that so many sitemaps were left out.
    pub(super) fn left_out(&mut self, reason: impl Into<String>, count: usize) {
        if count > 0 {
            *self.left_out.entry(reason.into()).or_default() += count;
        }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        let mut warnings = self.notes;
        warnings.extend(self.files);
        if self.more_files > 0 {
            let files = if self.more_files == 1 { "sitemap" } else { "sitemaps" };
            warnings.push(format!("{} more {files} could not be read whole", self.more_files));
        }
        for (reason, count) in self.left_out {
            let files = if count == 1 { "sitemap was" } else { "sitemaps were" };
            warnings.push(format!("{count} {files} not read: {reason}"));
        }
        warnings
    }
}
