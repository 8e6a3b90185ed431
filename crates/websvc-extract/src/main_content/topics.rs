//! Topics of a block's words that describe the function of the page rather than its subject.
//!
//! A word alone is a weak signal. Under a heading, in a short block or on each card it distinguishes a menu, a byline,
//! a list of related articles or a shop's controls from content.

use std::sync::LazyLock;

/// A set of topics, one bit each.
pub(super) type Topics = u16;

macro_rules! topics {
    ($($name:ident: $($word:literal)+;)*) => {
        topics!(@number 0u32, $($name)*);

        /// Number of topics.
        pub(super) const COUNT: usize = [$(stringify!($name)),*].len();

        /// All words with their topics.
        const WORDS: &[(&str, Topics)] = &[$($(($word, $name),)+)*];
    };
    (@number $bit:expr, $name:ident $($rest:ident)*) => {
        pub(super) const $name: Topics = 1 << $bit;
        topics!(@number $bit + 1, $($rest)*);
    };
    (@number $bit:expr,) => {};
}

topics! {
    RELATED: "related" "recommended" "recommendations" "popular" "trending" "latest" "similar" "also" "more" "next"
        "previous" "recent" "featured" "stories" "explore" "discover" "viewed" "bought" "enjoy" "topics" "read";
    COMMENTS: "comment" "comments" "commenting" "discussion" "moderated" "disqus" "respond" "conversation";
    SIGNUP: "subscribe" "subscriber" "subscribers" "newsletter" "newsletters" "email" "inbox" "join" "register" "signup"
        "signin" "login" "password" "username" "account" "logged" "log" "sign" "membership" "unsubscribe";
    SHARE: "share" "shares" "tweet" "twitter" "facebook" "linkedin" "pinterest" "whatsapp" "reddit" "instagram" "youtube"
        "follow" "followers" "copy" "print" "telegram" "tiktok" "bluesky";
    LEGAL: "copyright" "rights" "reserved" "privacy" "policy" "terms" "cookie" "cookies" "consent" "trademark"
        "trademarks" "disclaimer" "disclosure" "affiliate" "sitemap" "accessibility" "preferences";
    DATE: "ago" "min" "mins" "minute" "minutes" "updated" "published" "posted" "modified" "january" "february" "march"
        "april" "june" "july" "august" "september" "october" "november" "december" "jan" "feb" "mar" "apr" "jun" "jul"
        "aug" "sep" "sept" "oct" "nov" "dec" "est" "gmt" "utc" "monday" "tuesday" "wednesday" "thursday" "friday"
        "saturday" "sunday";
    PERSON: "by" "author" "authors" "written" "editor" "writer" "reporter" "contributor" "reviewed" "bio" "journalist"
        "correspondent" "staff";
    SHOP: "cart" "basket" "bag" "price" "prices" "sale" "shipping" "stock" "qty" "quantity" "checkout" "wishlist"
        "compare" "buy" "delivery" "returns" "sku" "add" "sold" "off" "save" "msrp" "pickup" "afterpay" "klarna";
    RATING: "review" "reviews" "rating" "ratings" "stars" "rated" "verified" "helpful";
    FORUM: "reply" "replies" "quote" "quoted" "joined" "posts" "post" "member" "members" "likes" "like" "liked" "views"
        "thread" "threads" "report" "reactions" "location" "votes" "upvote" "permalink" "moderator" "registered" "op"
        "senior" "junior" "karma" "points";
    SITE: "home" "about" "contact" "menu" "help" "faq" "faqs" "careers" "search" "skip" "navigation" "toggle" "support"
        "press" "advertise" "download" "app" "store" "stores" "locations" "language" "english" "shop" "blog" "sections";
    MEDIA: "photo" "photos" "photograph" "photographer" "image" "images" "credit" "getty" "caption" "courtesy" "video"
        "gallery" "reuters" "shutterstock" "unsplash" "illustration" "screenshot" "fullscreen" "play" "pause" "mute";
    ADVERT: "advertisement" "advertisements" "advertising" "sponsored" "promoted" "ad" "ads" "sponsor" "promotion";
    ACTION: "click" "view" "show" "see" "continue" "close" "load" "loading" "learn" "browse" "expand" "collapse" "hide"
        "select" "sort" "filter" "filters" "clear" "apply" "submit" "edit" "cancel" "open" "reset" "enable" "javascript"
        "tap" "scroll" "back" "start" "get" "shopping" "results" "showing" "items" "page";
    TAGS: "tags" "tagged" "categories" "category" "filed" "keywords" "labels" "hashtags" "topic";
    BACK: "references" "sources" "source" "citations" "footnotes" "notes" "bibliography" "contents" "toc" "index"
        "summary" "overview" "conclusion" "introduction" "description" "details" "specifications" "features" "ingredients"
        "instructions" "answer" "answers" "question" "questions";
}

/// Length of the longest word of the table.
const MAX_WORD_LEN: usize = 15;

/// The words by first letter and length.
type Table = [[Vec<(&'static str, Topics)>; MAX_WORD_LEN + 1]; 26];

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table: Table = std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()));
    for &(word, topic) in WORDS {
        table[usize::from(word.as_bytes()[0] - b'a')][word.len()].push((word, topic));
    }
    table
});

/// Reads the words of a text letter by letter.
#[derive(Default)]
pub(super) struct Words {
    letters: [u8; MAX_WORD_LEN],
    length: usize,
}

impl Words {
    /// Adds a character. Returns the topic of the word that it ends, 0 if there is none.
    pub(super) fn add(&mut self, c: char) -> Topics {
        if c.is_ascii_alphabetic() {
            if let Some(slot) = self.letters.get_mut(self.length) {
                // `c` is ASCII, so the cast is lossless.
                *slot = c.to_ascii_lowercase() as u8;
            }
            self.length += 1;
            return 0;
        }
        let length = std::mem::take(&mut self.length);
        if length < 2 { 0 } else { self.letters.get(..length).map_or(0, of_word) }
    }
}

/// Returns the topic of a word in lower case.
fn of_word(word: &[u8]) -> Topics {
    let words = &TABLE[usize::from(word[0] - b'a')][word.len()];
    words.iter().find(|(candidate, _)| candidate.as_bytes() == word).map_or(0, |(_, topic)| *topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_the_table_is_found() {
        for &(word, topic) in WORDS {
            assert!(word.len() <= MAX_WORD_LEN, "{word} is too long");
            assert_eq!(of_word(word.as_bytes()), topic, "{word} occurs twice");
        }
    }

    #[test]
    fn word_ends_at_a_character_that_is_not_a_letter() {
        let mut words = Words::default();
        let topics: Topics = "Leave a Comment.".chars().fold(0, |all, c| all | words.add(c));
        assert_eq!(topics, COMMENTS);
    }
}
