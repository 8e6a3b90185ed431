//! Which pages are explicit, by their words: offline and readable, so that a decision can be explained.
//!
//! A page is explicit when it has three distinct words of [`STRONG`] and one word in 200 is of the lists, or two and
//! one word in 50 is, or when its top-level domain is one for such pages. Words of medicine, education and law
//! are in no list, and no single word decides: a page about the subject uses few of these words, and rarely.

use url::Url;

/// Words that hardly stand anywhere else; sorted, folded.
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

/// Words that count beside them; sorted, folded.
const WEAK: [&str; 11] =
    ["boobs", "busty", "erotic", "escorts", "fetish", "horny", "naked", "nude", "nudes", "sexy", "topless"];

/// Top-level domains for such pages.
const DOMAINS: [&str; 4] = ["adult", "porn", "sex", "xxx"];

/// Tells whether a page is explicit. `words` are its folded words.
pub(crate) fn is_explicit<'a>(url: &str, words: impl Iterator<Item = &'a str>) -> bool {
    let (mut seen, mut distinct, mut hits, mut all) = ([false; STRONG.len()], 0usize, 0usize, 0usize);
    for word in words {
        all += 1;
        if !may_be_listed(word) {
            continue;
        }
        if let Ok(at) = STRONG.binary_search(&word) {
            hits += 1;
            distinct += usize::from(!std::mem::replace(&mut seen[at], true));
        } else if WEAK.binary_search(&word).is_ok() {
            hits += 1;
        }
    }
    let dense = |every: usize| hits * every >= all;
    (distinct >= 3 && dense(200)) || (distinct >= 2 && dense(50)) || has_explicit_domain(url)
}

/// For each first byte the lengths of the words in both lists, as bits.
static LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < STRONG.len() + WEAK.len() {
        let word = if at < STRONG.len() { STRONG[at] } else { WEAK[at - STRONG.len()] };
        lengths[word.as_bytes()[0] as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Tells whether a word may be in a list: a look at its length and first byte spares most words two searches.
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
    fn the_lists_are_sorted() {
        assert!(STRONG.is_sorted() && WEAK.is_sorted());
    }

    #[test]
    fn all_words_of_the_lists_are_looked_up() {
        assert!(STRONG.iter().chain(&WEAK).all(|word| may_be_listed(word)));
        assert!(!["", "the", &"p".repeat(40)].into_iter().any(may_be_listed));
    }

    #[test]
    fn several_words_decide_and_single_ones_do_not() {
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
    fn a_long_text_about_the_subject_is_not_explicit() {
        let essay =
            format!("{} porn porno {}", "law and speech ".repeat(100), "sex work and rights ".repeat(100));
        check(&essay, false);
    }

    #[test]
    fn some_top_level_domains_are_for_such_pages() {
        assert!(is_explicit("https://a.xxx/", std::iter::empty()));
        assert!(!is_explicit("https://xxx.example/", std::iter::empty()));
    }
}
