//! The filters of an import: languages, hosts and the quality of the text.

use std::collections::HashSet;

use anyhow::{Context, Result, ensure};
use url::{Host, Url};
use websvc::types::index::IndexDocument;
use websvc_index::detect_language;

use super::item::{Item, SkipReason};
use crate::args::ImportFilters;
use crate::command::input::Input;

/// Maximum size of the file with the hosts, in bytes: a million hosts.
const MAX_HOSTS_BYTES: u64 = 32 * 1024 * 1024;

/// The numbers of the rules for `--quality`. They are those of the Gopher corpus (Rae et al. 2021, table A1) that hold
/// for every language.
const MIN_WORDS: usize = 50;
const MEAN_LETTERS: std::ops::RangeInclusive<usize> = 3..=10;
/// At least this share of the words has a letter, in percent.
const MIN_LETTER_WORDS: usize = 80;
/// At most this share of the lines repeats an earlier one, in percent.
const MAX_REPEATED_LINES: usize = 30;

/// The pages that an import takes.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Empty for all.
    languages: HashSet<String>,
    hosts: Option<HashSet<String>>,
    min_words: usize,
    quality: bool,
}

impl Filter {
    /// Checks the options and reads the file of the hosts.
    pub(super) fn read(options: ImportFilters) -> Result<Self> {
        let ImportFilters { languages, hosts, min_words, quality } = options;
        let languages: HashSet<String> =
            languages.iter().map(|code| code.trim().to_ascii_lowercase()).collect();
        for code in &languages {
            let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
            ensure!(
                is_code,
                "--language {code:?} is not the code of a language: use two letters, such as en"
            );
        }
        let hosts = match hosts {
            Some(path) => {
                let Input { name, text } = Input::read(&path, MAX_HOSTS_BYTES)?;
                ensure!(text.len() as u64 <= MAX_HOSTS_BYTES, "{name} has more than {MAX_HOSTS_BYTES} bytes");
                Some(hosts_of(&text).with_context(|| name)?)
            }
            None => None,
        };
        Ok(Self { languages, hosts, min_words, quality })
    }

    /// Returns the reason to skip a page, as far as its URL tells. This is cheap, so it comes before the page is read.
    pub(super) fn skips_url(&self, url: &Url) -> Option<SkipReason> {
        let hosts = self.hosts.as_ref()?;
        let host = url.host_str().unwrap_or_default();
        let with_parents =
            std::iter::successors(Some(host), |host| host.split_once('.').map(|(_, parent)| parent));
        let mut with_parents = with_parents;
        (!with_parents.any(|host| hosts.contains(host))).then_some(SkipReason::OtherHost)
    }

    /// Replaces a document that the filters leave out by the reason.
    pub(super) fn apply(&self, item: Item) -> Item {
        match item {
            Item::Document(document) => match self.skips(&document) {
                Some(reason) => Item::Skipped(reason),
                None => Item::Document(document),
            },
            other @ (Item::Skipped(_) | Item::Failed { .. }) => other,
        }
    }

    fn skips(&self, document: &IndexDocument) -> Option<SkipReason> {
        if self.hosts.is_some()
            && let Some(reason) = Url::parse(&document.url).ok().and_then(|url| self.skips_url(&url))
        {
            return Some(reason);
        }
        if self.min_words > 0 || self.quality {
            let text = TextStatistics::of(&document.body);
            if text.words < self.min_words || self.quality && !text.is_prose() {
                return Some(SkipReason::LowQuality);
            }
        }
        let is_other = !self.languages.is_empty()
            && !self.languages.contains(&detect_language(document.language.as_deref(), &document.body));
        is_other.then_some(SkipReason::OtherLanguage)
    }
}

/// Reads hosts, one per line. Empty lines and those that begin with `#` are left out.
fn hosts_of(text: &str) -> Result<HashSet<String>> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let hosts = lines.map(|(number, line)| {
        let host = Host::parse(line).ok().filter(|_| !line.contains(['/', ':']));
        host.map(|host| host.to_string()).with_context(|| {
            format!("line {number}: {line:?} is not a host: write it without scheme, port and path, such as example.org")
        })
    });
    let hosts: HashSet<String> = hosts.collect::<Result<_>>()?;
    ensure!(!hosts.is_empty(), "the file names no host: write one per line");
    Ok(hosts)
}

/// Counts of a text.
#[derive(Debug, Default)]
struct TextStatistics {
    words: usize,
    /// Words between blanks, without those of scripts that set no blanks.
    spaced_words: usize,
    spaced_letters: usize,
    words_with_letter: usize,
    lines: usize,
    repeated_lines: usize,
}

impl TextStatistics {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        let mut seen = HashSet::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            counts.lines += 1;
            counts.repeated_lines += usize::from(!seen.insert(line));
            line.split_whitespace().for_each(|word| counts.add(word));
        }
        counts
    }

    fn add(&mut self, word: &str) {
        let without_blanks = word.chars().filter(|letter| is_written_without_blanks(*letter)).count();
        let has_letter = word.chars().any(char::is_alphabetic);
        if without_blanks > 0 {
            // A word has about two of these letters.
            let words = without_blanks.div_ceil(2);
            self.words += words;
            self.words_with_letter += words;
            return;
        }
        self.words += 1;
        self.spaced_words += 1;
        self.spaced_letters += word.chars().count();
        self.words_with_letter += usize::from(has_letter);
    }

    fn is_prose(&self) -> bool {
        self.words >= MIN_WORDS
            && (self.spaced_words == 0 || MEAN_LETTERS.contains(&(self.spaced_letters / self.spaced_words)))
            && self.words_with_letter * 100 >= self.words * MIN_LETTER_WORDS
            && self.repeated_lines * 100 <= self.lines * MAX_REPEATED_LINES
    }
}

/// Returns whether a letter is of Thai, Lao, Khmer, Burmese, Chinese or Japanese.
fn is_written_without_blanks(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "The leaves of the tea are picked by hand in the morning, and then they are steamed for \
        a minute, so that they stay green.\nAfter that, the leaves are rolled and dried in several steps, which take \
        the whole day, until they have lost nearly all of their water.\nA good tea of this kind is stored in the \
        dark, because light and air change its taste.";

    fn document(url: &str, body: &str) -> IndexDocument {
        IndexDocument { url: url.to_owned(), body: body.to_owned(), ..IndexDocument::default() }
    }

    fn filter(languages: &[&str], hosts: Option<&str>, min_words: usize, quality: bool) -> Filter {
        Filter {
            languages: languages.iter().map(|&code| code.to_owned()).collect(),
            hosts: hosts.map(|text| hosts_of(text).unwrap()),
            min_words,
            quality,
        }
    }

    #[test]
    fn pages_of_other_hosts_are_left_out() {
        let filter = filter(&[], Some("# tea\nTea.test\n\nbücher.test"), 0, false);
        for (url, skipped) in [
            ("http://tea.test/green", None),
            ("https://shop.tea.test:8080/", None),
            ("http://xn--bcher-kva.test/", None),
            ("http://greentea.test/", Some(SkipReason::OtherHost)),
            ("http://test/", Some(SkipReason::OtherHost)),
        ] {
            assert_eq!(filter.skips_url(&Url::parse(url).unwrap()), skipped, "{url}");
            assert_eq!(filter.skips(&document(url, "text")), skipped, "{url}");
        }
    }

    #[test]
    fn file_without_valid_hosts_is_refused_with_the_line() {
        for (text, expected) in [
            ("tea.test\nhttp://tea.test/", "line 2: \"http://tea.test/\" is not a host"),
            ("tea.test:80", "line 1: \"tea.test:80\" is not a host"),
            ("# none\n", "the file names no host"),
        ] {
            let error = hosts_of(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn pages_in_other_languages_are_left_out() {
        let german =
            "Die Blätter des Tees werden am Morgen von Hand gepflückt und dann für eine Minute gedämpft.";
        let filter = filter(&["en", "fr"], None, 0, false);
        assert_eq!(filter.skips(&document("http://a.test/", ENGLISH)), None);
        assert_eq!(filter.skips(&document("http://a.test/", german)), Some(SkipReason::OtherLanguage));
        let options = |code: &str| ImportFilters { languages: vec![code.to_owned()], ..Default::default() };
        assert!(Filter::read(options("EN")).is_ok());
        let error = Filter::read(options("english")).unwrap_err().to_string();
        assert!(error.contains("\"english\" is not the code of a language"), "{error}");
    }

    #[test]
    fn quality_leaves_out_what_is_not_text() {
        let numbers = "17 203 4.50 11:30 9 ".repeat(20);
        let repeated = "Add to the cart and read more about it\n".repeat(20);
        let letters = "a b c d e f g h i j k l m n o p q r s t u v w x y z ".repeat(3);
        let addresses = "https://a.test/a/very/long/path/of/an/address ".repeat(60);
        let chinese = "茶叶在早晨采摘然后蒸一分钟以保持绿色之后揉捻并干燥".repeat(6);
        for (text, is_left_out) in [
            (ENGLISH, false),
            (&chinese, false),
            ("Too few words.", true),
            (&numbers, true),
            (&repeated, true),
            (&letters, true),
            (&addresses, true),
        ] {
            let skipped = filter(&[], None, 0, true).skips(&document("http://a.test/", text));
            assert_eq!(skipped.is_some(), is_left_out, "{text}");
        }
        let short = filter(&[], None, 4, false);
        assert_eq!(short.skips(&document("http://a.test/", "one two three four")), None);
        assert_eq!(short.skips(&document("http://a.test/", "one two three")), Some(SkipReason::LowQuality));
    }
}
