//! Scores of the text and the structure that a program read from a file, against its known content.

#![allow(dead_code, reason = "the test and the example `producers` use different parts")]

use std::collections::HashMap;
use std::hash::Hash;

use unicode_normalization::UnicodeNormalization;

use super::set::Part;
use super::structure::Structure;

/// The names of the measures, in the order of [`Total::measures`].
pub(crate) const MEASURES: [&str; 8] =
    ["words", "4 words", "order", "paragraphs", "headings", "items", "rows", "code"];

/// The text and the structure that a program read.
#[derive(Debug, Default)]
pub(crate) struct Content {
    words: Vec<String>,
    /// The texts of all blocks, whatever they are; of the known content, the paragraphs.
    blocks: Vec<String>,
    headings: Vec<String>,
    items: Vec<String>,
    rows: Vec<Vec<String>>,
    code: Vec<String>,
}

impl Content {
    /// Reads markdown.
    pub(crate) fn of_markdown(text: &str) -> Content {
        let structure = Structure::of_markdown(&cleaned(text));
        let key = |text: &String| words(text).join(" ");
        let cells = |cells: &[String]| -> Vec<String> {
            cells.iter().map(key).filter(|cell| !cell.is_empty()).collect()
        };
        Content {
            words: structure.blocks.iter().flat_map(|block| words(block)).collect(),
            blocks: structure.blocks.iter().map(key).collect(),
            headings: structure.headings.iter().map(|(_, text)| key(text)).collect(),
            items: structure.items.iter().map(|(_, text)| key(text)).collect(),
            rows: structure.rows.iter().map(|row| cells(&row.cells)).collect(),
            code: structure.code.iter().map(|line| code_key(line)).collect(),
        }
    }

    /// Reads text without structure. The markers of items do not count as words.
    pub(crate) fn of_text(text: &str) -> Content {
        let is_marker = |word: &str| {
            word.strip_suffix(['.', ')'])
                .is_some_and(|number| number.len() < 3 && number.parse::<u32>().is_ok())
        };
        let text = cleaned(text);
        let lines = text.lines().map(|line| match line.trim_start().split_once(' ') {
            Some((first, rest)) if is_marker(first) => rest,
            _ => line,
        });
        let blocks = text.split("\n\n").map(|block| words(block).join(" "));
        Content { words: lines.flat_map(words).collect(), blocks: blocks.collect(), ..Content::default() }
    }

    /// Returns the known content in the same form.
    pub(crate) fn of_truth(parts: &[Part]) -> Content {
        let mut content = Content::default();
        for part in parts {
            let found = words(&part.text());
            let key = found.join(" ");
            content.words.extend(found);
            match part {
                Part::Heading(_) => content.headings.push(key),
                Part::Item(_) => content.items.push(key),
                Part::Row(cells) => {
                    let cells = cells.iter().map(|cell| words(cell).join(" "));
                    content.rows.push(cells.filter(|cell| !cell.is_empty()).collect());
                }
                Part::Code(line) => content.code.push(code_key(line)),
                Part::Paragraph(_) => content.blocks.push(key),
                Part::Note(_) | Part::Entry(_) => {}
            }
        }
        content
    }

    /// Removes items and rows that are notes or entries of a table of contents, which can be lists as well.
    fn without_optional(&self, parts: &[Part]) -> Content {
        let is_optional = |part: &&Part| matches!(part, Part::Note(_) | Part::Entry(_));
        let optional: Vec<Vec<String>> =
            parts.iter().filter(is_optional).map(|part| words(&part.text())).collect();
        // The number of a note can be the marker of the item.
        let is_known = |text: &str| {
            let found: Vec<&str> = text.split(' ').collect();
            optional.iter().any(|known| *known == found || known[1..] == found)
        };
        let items = self.items.iter().filter(|item| !is_known(item));
        let rows = self.rows.iter().filter(|row| !is_known(&row.join(" ")));
        Content { items: items.cloned().collect(), rows: rows.cloned().collect(), ..Content::default() }
    }
}

/// The number of common, of found and of known parts.
#[derive(Debug, Default, Clone, Copy)]
struct Counts([usize; 3]);

impl Counts {
    fn of_parts<T: Eq + Hash>(found: &[T], known: &[T]) -> Self {
        let mut left: HashMap<&T, usize> = HashMap::new();
        known.iter().for_each(|part| *left.entry(part).or_default() += 1);
        let mut common = 0;
        for part in found {
            if let Some(count) = left.get_mut(part).filter(|count| **count > 0) {
                *count -= 1;
                common += 1;
            }
        }
        Self([common, found.len(), known.len()])
    }

    fn add(&mut self, other: Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Returns F1; `None` if there is nothing to find and nothing was found.
    fn f1(self) -> Option<f64> {
        let [common, found, known] = self.0.map(|count| count as f64);
        (found + known > 0.0).then(|| 2.0 * common / (found + known))
    }
}

/// The sums of the scores of documents: means over the documents for words, runs of four words and the order; the share of the
/// paragraphs that are blocks of their own; one F1 of all parts for the rest.
#[derive(Debug, Default, Clone)]
pub(crate) struct Total {
    pub(crate) documents: usize,
    pub(crate) pages: u32,
    pub(crate) seconds: f64,
    words: f64,
    runs: f64,
    /// The sum, and the number of documents with blocks in an order.
    order: (f64, usize),
    /// The number of known paragraphs that are blocks, and of all.
    paragraphs: Counts,
    headings: Counts,
    items: Counts,
    rows: Counts,
    code: Counts,
}

impl Total {
    /// Adds a document.
    pub(crate) fn add(&mut self, found: &Content, parts: &[Part]) {
        let known = Content::of_truth(parts);
        self.documents += 1;
        self.words += Counts::of_parts(&found.words, &known.words).f1().unwrap_or(1.0);
        let runs = |content: &Content| content.words.windows(4).map(|run| run.join(" ")).collect::<Vec<_>>();
        self.runs += Counts::of_parts(&runs(found), &runs(&known)).f1().unwrap_or(1.0);
        if let Some(order) = order(&found.words, parts) {
            self.order = (self.order.0 + order, self.order.1 + 1);
        }
        let Counts([common, _, paragraphs]) = Counts::of_parts(&found.blocks, &known.blocks);
        self.paragraphs.add(Counts([common, paragraphs, paragraphs]));
        self.headings.add(Counts::of_parts(&found.headings, &known.headings));
        let required = found.without_optional(parts);
        self.items.add(Counts::of_parts(&required.items, &known.items));
        self.rows.add(Counts::of_parts(&required.rows, &known.rows));
        self.code.add(Counts::of_parts(&found.code, &known.code));
    }

    /// Adds the sums of other documents.
    pub(crate) fn merge(&mut self, other: &Total) {
        self.documents += other.documents;
        self.pages += other.pages;
        self.seconds += other.seconds;
        self.words += other.words;
        self.runs += other.runs;
        self.order = (self.order.0 + other.order.0, self.order.1 + other.order.1);
        self.paragraphs.add(other.paragraphs);
        self.headings.add(other.headings);
        self.items.add(other.items);
        self.rows.add(other.rows);
        self.code.add(other.code);
    }

    /// Returns the values of [`MEASURES`]; `None` for what no document has.
    pub(crate) fn measures(&self) -> [Option<f64>; 8] {
        let mean = |sum: f64| (self.documents > 0).then(|| sum / self.documents as f64);
        let order = (self.order.1 > 0).then(|| self.order.0 / self.order.1 as f64);
        let parts = [self.paragraphs, self.headings, self.items, self.rows, self.code].map(Counts::f1);
        let [paragraphs, headings, items, rows, code] = parts;
        [mean(self.words), mean(self.runs), order, paragraphs, headings, items, rows, code]
    }
}

/// Returns the share of neighboring blocks that come in the known order, of those whose first words are found once.
fn order(found: &[String], parts: &[Part]) -> Option<f64> {
    let mut places: HashMap<&[String], Option<usize>> = HashMap::new();
    for (index, run) in found.windows(3).enumerate() {
        places.entry(run).and_modify(|place| *place = None).or_insert(Some(index));
    }
    let blocks = parts.iter().filter(|part| !matches!(part, Part::Note(_)));
    let place = |part: &Part| places.get(words(&part.text()).get(..3)?).copied().flatten();
    let found: Vec<usize> = blocks.filter_map(place).collect();
    let ordered = found.windows(2).filter(|pair| pair[0] < pair[1]).count();
    (found.len() > 1).then(|| ordered as f64 / (found.len() - 1) as f64)
}

/// Returns a text without the characters that only direct its layout, and with plain letters for ligatures.
fn cleaned(text: &str) -> String {
    let is_layout = |c: &char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !is_layout(c)).nfkc().collect()
}

/// Returns the lower-case words of a text: runs of letters and runs of digits.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for character in cleaned(text).to_lowercase().chars() {
        let kind = character.is_alphanumeric().then(|| character.is_numeric());
        match words.last_mut() {
            Some(word) if kind.is_some() && kind == last => word.push(character),
            _ if kind.is_some() => words.push(character.to_string()),
            _ => {}
        }
        last = kind;
    }
    words
}

/// Returns a line of code without white space.
fn code_key(line: &str) -> String {
    line.split_whitespace().collect()
}
