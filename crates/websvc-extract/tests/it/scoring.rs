//! Scores of extracted texts against known main texts: the measures of the benchmarks, and the format of their sets.

#![allow(dead_code, reason = "the tests and the example `score` use different parts")]

use std::collections::HashMap;
use std::path::Path;

/// One page of a set.
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) url: url::Url,
    /// The kind of page, if the set has it.
    pub(crate) kind: String,
    pub(crate) html: Vec<u8>,
    /// The known main text.
    pub(crate) truth: String,
    /// The known main content as markdown, if the set has it.
    pub(crate) markdown: Option<String>,
    /// The known main content as HTML, if the set has it.
    pub(crate) main_html: Option<String>,
}

/// Reads a set: `urls.tsv`, `truth.jsonl` and `html/ID.html` in one folder. Pages that lack one of these are skipped.
pub(crate) fn read_set(folder: &Path) -> std::io::Result<Vec<Page>> {
    let truths = std::fs::read_to_string(folder.join("truth.jsonl"))?;
    let pages = truths.lines().filter_map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        let field = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
        let id = field("id")?.to_owned();
        let truth = match (field("text"), field("markdown")) {
            (Some(text), _) => text.to_owned(),
            (None, markdown) => without_markup(markdown?),
        };
        let fallback = || url::Url::parse("https://example.com/").expect("the address is valid");
        let url = field("url").and_then(|url| url::Url::parse(url).ok()).unwrap_or_else(fallback);
        let html = std::fs::read(folder.join("html").join(format!("{id}.html"))).ok()?;
        let kind = field("type").unwrap_or("page").to_owned();
        let [markdown, main_html] = ["markdown", "html_truth"].map(|name| field(name).map(str::to_owned));
        Some(Page { id, url, kind, html, truth, markdown, main_html })
    });
    Ok(pages.collect())
}

/// Removes the targets of links and the markup of markdown.
fn without_markup(markdown: &str) -> String {
    let mut out = String::new();
    let mut rest = markdown;
    while let Some((before, target)) = rest.split_once("](") {
        out.push_str(before);
        out.push(' ');
        rest = target.split_once(')').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.replace(['*', '`', '#', '|', '\\'], " ")
}

/// Sums of precision and recall over pages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Score {
    pub(crate) pages: u32,
    words: [f64; 3],
    shingles: [f64; 2],
    /// Number of pages with a precision, and with a recall, of shingles.
    counted: [f64; 2],
}

impl Score {
    /// Adds a page.
    pub(crate) fn add(&mut self, text: &str, truth: &str) {
        self.pages += 1;
        for (sum, part) in self.words.iter_mut().zip(word_scores(text, truth)) {
            *sum += part;
        }
        let (text, truth) = (shingles(text), shingles(truth));
        let common = common_count(&text, &truth);
        for (index, shingles) in [&text, &truth].into_iter().enumerate() {
            let count = f64::from(shingles.values().sum::<u32>());
            if count > 0.0 {
                self.shingles[index] += f64::from(common) / count;
                self.counted[index] += 1.0;
            }
        }
    }

    /// Returns the mean over pages of the F1 of words, ignoring their order.
    pub(crate) fn word_f1(&self) -> f64 {
        self.words[2] / f64::from(self.pages.max(1))
    }

    /// Returns the mean precision and recall of words.
    pub(crate) fn word_precision_recall(&self) -> (f64, f64) {
        let pages = f64::from(self.pages.max(1));
        (self.words[0] / pages, self.words[1] / pages)
    }

    /// Returns the F1 of the mean precision and the mean recall of runs of four words.
    pub(crate) fn shingle_f1(&self) -> f64 {
        let precision = self.shingles[0] / self.counted[0].max(1.0);
        let recall = self.shingles[1] / self.counted[1].max(1.0);
        harmonic(precision, recall)
    }
}

/// Returns precision, recall and F1 of the words of a text, ignoring their order.
pub(crate) fn word_scores(text: &str, truth: &str) -> [f64; 3] {
    let bag = |text: &str| {
        let mut bag = HashMap::new();
        for word in words(&text.to_lowercase()) {
            *bag.entry(word.to_owned()).or_insert(0_u32) += 1;
        }
        bag
    };
    let (text, truth) = (bag(text), bag(truth));
    let count = |bag: &HashMap<String, u32>| f64::from(bag.values().sum::<u32>());
    match (text.is_empty(), truth.is_empty()) {
        (true, true) => [1.0; 3],
        (false, false) => {
            let common = f64::from(common_count(&text, &truth));
            let (precision, recall) = (common / count(&text), common / count(&truth));
            [precision, recall, harmonic(precision, recall)]
        }
        _ => [0.0; 3],
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn shingles(text: &str) -> HashMap<Vec<&str>, u32> {
    let words: Vec<&str> = words(text).collect();
    let mut found = HashMap::new();
    if words.is_empty() {
        return found;
    }
    for run in words.windows(words.len().min(4)) {
        *found.entry(run.to_vec()).or_insert(0) += 1;
    }
    found
}

fn common_count<K: std::hash::Hash + Eq>(a: &HashMap<K, u32>, b: &HashMap<K, u32>) -> u32 {
    a.iter().map(|(key, count)| count.min(b.get(key).unwrap_or(&0))).sum()
}

fn harmonic(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }
}
