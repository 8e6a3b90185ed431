//! A page that was read: its passages, and the words and numbers that they state.

use std::collections::HashSet;

use websvc_extract::passages::{Passages, SplitPolicy};

use crate::numbers::numbers;
use crate::tool::{Link, ReadPage};

/// The maximum size of the markdown of a page that is kept, in bytes. The rest is not seen by the model.
const MAX_PAGE_BYTES: usize = 400_000;

/// The size up to which passages are put together, in bytes: small models find facts best in short texts.
const PASSAGE_BYTES: usize = 900;

/// The size from which a heading begins a passage, in bytes.
const SECTION_BYTES: usize = 200;

/// The length of a line from which it is split, in bytes.
const LINE_BYTES: usize = 1_200;

/// The maximum number of links of a page.
const MAX_LINKS: usize = 2_000;

/// The maximum length of a URL. Longer ones are not of use to anyone.
pub(crate) const MAX_URL_BYTES: usize = 2_000;

/// A page with its passages.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) passages: Vec<Passage>,
    pub(crate) links: Vec<Link>,
    /// The keys of its URL and of its links.
    pub(crate) addresses: HashSet<String>,
    /// True if its end is not kept.
    pub(crate) is_cut: bool,
    pub(crate) bytes: usize,
}

/// A passage of a page.
#[derive(Debug)]
pub(crate) struct Passage {
    /// The markdown.
    pub(crate) text: String,
    /// The length of the markdown without URLs, in characters.
    pub(crate) plain_chars: usize,
    /// Its words in lower case with one space before and after each, to find values.
    pub(crate) words: String,
    /// The numbers that it states, in every reading.
    pub(crate) numbers: Vec<f64>,
}

impl Page {
    /// Splits a page into passages. The time is linear in its size: large pages belong on a blocking thread.
    pub(crate) fn new(page: ReadPage) -> Self {
        let ReadPage { url, title: _, mut markdown, mut links } = page;
        let is_cut = markdown.len() > MAX_PAGE_BYTES;
        if is_cut {
            markdown.truncate(markdown.floor_char_boundary(MAX_PAGE_BYTES));
        }
        let markdown = wrap_long_lines(markdown);
        let texts = join_short(&Passages::from_markdown(markdown, SplitPolicy::Anywhere));
        let passages: Vec<Passage> = texts.into_iter().map(Passage::new).collect();
        links.retain(|link| link.url.len() <= MAX_URL_BYTES);
        links.truncate(MAX_LINKS);
        let link_bytes: usize = links.iter().map(|link| link.url.len() + link.text.len()).sum();
        let addresses: HashSet<String> =
            links.iter().map(|link| &link.url).chain([&url]).map(|url| url_key(url)).collect();
        let address_bytes: usize = addresses.iter().map(String::len).sum();
        let bytes = link_bytes + address_bytes + passages.iter().map(Passage::bytes).sum::<usize>();
        Self { url, passages, links, addresses, is_cut, bytes }
    }
}

impl Passage {
    pub(crate) fn new(text: String) -> Self {
        let plain = without_targets(&text);
        Self { words: words(&plain), numbers: numbers(&plain), plain_chars: plain.chars().count(), text }
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.words.len() + self.numbers.len() * size_of::<f64>()
    }
}

/// Returns the words of a text, in lower case, with one space before and after each. Punctuation is left out, so texts that
/// differ in it are equal. Each character of a script without spaces between words is a word.
pub(crate) fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for c in text.chars() {
        let is_word = is_unspaced(c);
        if (is_word || !c.is_alphanumeric()) && !words.ends_with(' ') {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        if is_word && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// Returns whether a character belongs to a script without spaces between words, or to Hangul, whose words have many endings.
pub(crate) const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' // Myanmar, Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' // kana
        | '\u{ac00}'..='\u{d7a3}' // Hangul
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Joins short passages, and a heading with the text below it.
fn join_short(passages: &Passages) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for text in passages.texts() {
        match joined.last_mut() {
            Some(last)
                if last.len() + text.len() <= PASSAGE_BYTES
                    && !(text.starts_with('#') && last.len() >= SECTION_BYTES) =>
            {
                last.push_str("\n\n");
                last.push_str(text);
            }
            Some(_) | None => joined.push(text.to_owned()),
        }
    }
    joined
}

/// Splits lines that are longer than a passage should be, at spaces if they have some.
fn wrap_long_lines(markdown: String) -> String {
    if markdown.lines().all(|line| line.len() <= LINE_BYTES) {
        return markdown;
    }
    let mut wrapped = String::with_capacity(markdown.len() + markdown.len() / LINE_BYTES + 1);
    for line in markdown.split_inclusive('\n') {
        let mut rest = line;
        while rest.len() > LINE_BYTES {
            let end = rest.floor_char_boundary(LINE_BYTES);
            let end = rest[..end].rfind(' ').map_or(end, |space| space + 1);
            wrapped.push_str(&rest[..end]);
            wrapped.push_str("\n\n");
            rest = &rest[end..];
        }
        wrapped.push_str(rest);
    }
    wrapped
}

/// A link target in markdown: the range of the URL.
fn next_target(text: &str) -> Option<(usize, usize)> {
    let start = text.find("](")? + 2;
    // Parentheses within a URL are balanced in what the extraction writes.
    let mut depth = 0_usize;
    for (offset, c) in text[start..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((start, start + offset)),
            ')' => depth -= 1,
            '\n' => break,
            _ => {}
        }
    }
    Some((start, start))
}

/// Replaces the targets of the links of a markdown text; those of images are left out.
pub(crate) fn map_targets(text: &str, mut map: impl FnMut(&str) -> String) -> String {
    let (mut mapped, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((start, end)) = next_target(rest) {
        mapped.push_str(&rest[..start]);
        // A target may have a title after the URL.
        let url = rest[start..end].split(' ').next().unwrap_or_default();
        let label = rest[..start].rfind('[').map_or("", |open| &rest[..open]);
        if !label.ends_with('!') && url.starts_with("http") {
            mapped.push_str(&map(url));
        }
        rest = &rest[end..];
    }
    mapped.push_str(rest);
    mapped
}

fn without_targets(text: &str) -> String {
    map_targets(text, |_| String::new())
}

/// Returns a URL without what does not change the page: the fragment, and the spelling of scheme and host.
pub(crate) fn url_key(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut url) => {
            url.set_fragment(None);
            url.into()
        }
        Err(_) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(markdown: &str) -> Page {
        let url = "http://a.test/".to_owned();
        Page::new(ReadPage { url, title: String::new(), markdown: markdown.to_owned(), links: Vec::new() })
    }

    fn texts(page: &Page) -> Vec<&str> {
        page.passages.iter().map(|passage| passage.text.as_str()).collect()
    }

    #[test]
    fn short_passages_are_joined_up_to_the_next_section() {
        let text = "word ".repeat(50);
        let text = text.trim_end();
        let page = page(&format!("# A\n\nIntro.\n\n{text}\n\n## B\n\n{text}"));
        assert_eq!(texts(&page), [format!("# A\n\nIntro.\n\n{text}"), format!("## B\n\n{text}")]);
    }

    #[test]
    fn long_lines_are_split_at_spaces_and_lose_nothing() {
        let line = "äöü ".repeat(2_000);
        let page = page(&line);
        assert!(page.passages.len() > 8);
        assert!(page.passages.iter().all(|passage| passage.text.len() <= LINE_BYTES));
        let words: usize = page.passages.iter().map(|passage| passage.words.matches("äöü").count()).sum();
        assert_eq!(words, 2_000);
        let unbroken = "x".repeat(5_000);
        assert!(self::page(&unbroken).passages.iter().all(|passage| passage.text.len() <= LINE_BYTES));
    }

    #[test]
    fn huge_page_is_cut() {
        let page = page(&"ä ".repeat(MAX_PAGE_BYTES));
        assert!(page.is_cut);
        let bytes: usize = page.passages.iter().map(|passage| passage.text.len()).sum();
        assert!(bytes <= MAX_PAGE_BYTES && page.bytes >= bytes);
    }

    #[test]
    fn words_are_without_case_and_punctuation() {
        assert_eq!(words("**Green** Tea, 1.5\nÄ!"), " green tea 1 5 ä ");
        assert_eq!(words(""), " ");
        assert_eq!(words("本店的龙井320元。"), " 本 店 的 龙 井 320 元 ");
        assert_eq!(words("가격은 5원, Tea"), " 가 격 은 5 원 tea ");
        let page = page("See [the tea](http://x.test/cup_(a)).");
        assert_eq!((page.passages[0].words.as_str(), page.passages[0].plain_chars), (" see the tea ", 16));
    }

    #[test]
    fn fragment_does_not_change_a_page() {
        assert_eq!(url_key("HTTP://A.test#x"), url_key("http://a.test/"));
        assert_ne!(url_key("http://a.test/?x"), url_key("http://a.test/"));
        assert_eq!(url_key("no URL"), "no URL");
    }
}
