//! Classification of explicit pages by word lists, which work offline and make each decision explainable.
//!
//! A page is explicit if any of these holds:
//!
//! - it has three distinct words of [`STRONG`], and one word in 200 is in a list;
//! - it has two distinct words of [`STRONG`], and one word in 50 is in a list;
//! - its top-level domain is for adult content ([`DOMAINS`]).
//!
//! The lists have no words of medicine, education and law, and a single word is never enough: a page about the subject
//! uses only a few of the listed words, and uses them rarely.

use url::Url;

/// Words that are rare in pages that are not explicit; sorted, folded.
const STRONG: [&str; 60] = [
    "bbw",
    "blowjob",
    "blowjobs",
    "bukkake",
    "camgirl",
    "camgirls",
    "creampie",
    "creampies",
    "cuckold",
    "cum",
    "cumshot",
    "cumshots",
    "cunt",
    "deepthroat",
    "dildo",
    "dildos",
    "ficken",
    "follando",
    "fotze",
    "fotzen",
    "fuck",
    "fucked",
    "fucking",
    "fucks",
    "gangbang",
    "gangbangs",
    "handjob",
    "handjobs",
    "hentai",
    "jizz",
    "milf",
    "milfs",
    "nichons",
    "nsfw",
    "porn",
    "porno",
    "pornos",
    "pornstar",
    "pornstars",
    "pussies",
    "pussy",
    "putas",
    "rimjob",
    "salope",
    "salopes",
    "schlampe",
    "sexcam",
    "sexcams",
    "shemale",
    "shemales",
    "slut",
    "sluts",
    "threesome",
    "threesomes",
    "tits",
    "titten",
    "upskirt",
    "upskirts",
    "xnxx",
    "xxx",
];

/// Words that only add to the number of listed words; sorted, folded.
const WEAK: [&str; 11] =
    ["boobs", "busty", "erotic", "escorts", "fetish", "horny", "naked", "nude", "nudes", "sexy", "topless"];

/// Top-level domains for adult content.
const DOMAINS: [&str; 4] = ["adult", "porn", "sex", "xxx"];

/// Returns true if a page is explicit. `words` are the folded words of the page.
pub(crate) fn is_explicit<'a>(url: &str, words: impl Iterator<Item = &'a str>) -> bool {
    let (mut seen, mut distinct, mut listed, mut total) = ([false; STRONG.len()], 0usize, 0usize, 0usize);
    for word in words {
        total += 1;
        if !may_be_listed(word) {
            continue;
        }
        if let Ok(position) = STRONG.binary_search(&word) {
            listed += 1;
            distinct += usize::from(!std::mem::replace(&mut seen[position], true));
        } else if WEAK.binary_search(&word).is_ok() {
            listed += 1;
        }
    }
    let one_in = |words: usize| listed * words >= total;
    (distinct >= 3 && one_in(200)) || (distinct >= 2 && one_in(50)) || has_explicit_domain(url)
}

/// Bit sets of the lengths of the words in both lists, indexed by the first byte of the word.
static LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut position = 0;
    while position < STRONG.len() + WEAK.len() {
        let word = if position < STRONG.len() { STRONG[position] } else { WEAK[position - STRONG.len()] };
        lengths[word.as_bytes()[0] as usize] |= 1 << word.len();
        position += 1;
    }
    lengths
};

/// Returns true if a word may be in a list, by its length and first byte. This saves the two binary searches for most
/// words.
fn may_be_listed(word: &str) -> bool {
    let lengths = word.bytes().next().map_or(0, |first| LENGTHS[usize::from(first)]);
    word.len() < 32 && lengths >> word.len() & 1 == 1
}

fn has_explicit_domain(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let top = url.as_ref().and_then(Url::domain).and_then(|domain| domain.rsplit('.').next());
    top.is_some_and(|top| DOMAINS.contains(&top))
}

#[cfg(test)]
mod tests {
    use super::{STRONG, WEAK, is_explicit, may_be_listed};

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        assert_eq!(is_explicit("https://a.test/", words), expected, "{text}");
    }

    #[test]
    fn word_lists_are_sorted() {
        assert!(STRONG.is_sorted() && WEAK.is_sorted());
    }

    #[test]
    fn prefilter_passes_every_listed_word() {
        assert!(STRONG.iter().chain(&WEAK).all(|word| may_be_listed(word)));
        assert!(!["", "the", &"p".repeat(40)].into_iter().any(may_be_listed));
    }

    #[test]
    fn several_listed_words_make_a_page_explicit_but_a_single_one_does_not() {
        check("Free porn videos of horny milfs", true);
        check("Xxx pussy sluts and more", true);
        check("Breast cancer: how the breast is examined, naked to the waist", false);
        check("Sexual education in schools: contraception, intercourse and consent", false);
        check("The penis and the vagina in vertebrate anatomy", false);
        check("Hardcore punk of the eighties", false);
        check("A pussy cat slept", false);
        check("The court on porn and the freedom of speech", false);
        check("A nude by Titian, and the naked truth of erotic art", false);
    }

    #[test]
    fn long_text_with_few_listed_words_is_not_explicit() {
        let essay =
            format!("{} porn porno {}", "law and speech ".repeat(100), "sex work and rights ".repeat(100));
        check(&essay, false);
    }

    #[test]
    fn adult_top_level_domain_makes_a_page_explicit() {
        assert!(is_explicit("https://a.xxx/", std::iter::empty()));
        assert!(!is_explicit("https://xxx.example/", std::iter::empty()));
    }
}
