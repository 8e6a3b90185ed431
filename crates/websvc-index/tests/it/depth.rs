//! The limit of a search cuts the list of hits, and changes nothing else.

use websvc_index::{Document, Image, SearchOptions, Vertical};

use crate::support::{Fixture, image_address, page, time};

/// A generator of the same numbers on every run (a linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Returns a word; small numbers are frequent.
    fn word(&mut self) -> String {
        let first = self.below(90) + 1;
        format!("word{}", self.below(first))
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word() + " ").collect()
    }
}

/// Returns pages of few and of many hosts, with copies, dates and variants of one URL.
fn collection() -> Vec<Document> {
    let mut numbers = Numbers(7);
    let mut pages: Vec<Document> = (0..400)
        .map(|number| {
            let first = numbers.below(40) + 1;
            let host = numbers.below(first);
            let words = 10 + numbers.below(90);
            let (title, body) = (numbers.text(4), numbers.text(words));
            let published =
                (number % 3 == 0).then(|| time(&format!("20{:02}-05-01T00:00:00Z", 10 + number % 15)));
            let image = Image {
                url: format!("https://img.test/{}.png", number % 150),
                alt: numbers.text(5),
                ..Image::default()
            };
            let images = vec![image];
            Document {
                published,
                images,
                ..page(&format!("h{host}.test/{number}?v={}", number % 2), &title, &body)
            }
        })
        .collect();
    let copies = pages.iter().step_by(5).enumerate().map(|(number, original)| {
        let address = match number % 2 {
            0 => format!("copy{}.test/{number}", number % 7),
            _ => original.url.replace("https://", "").replace("?v=", "?w=9&v="),
        };
        page(&address, &original.title, &original.body)
    });
    let copies: Vec<Document> = copies.collect();
    pages.extend(copies);
    pages
}

#[test]
fn hits_with_a_smaller_limit_are_the_first_of_those_with_a_larger_one() {
    let fixture = Fixture::new(collection());
    let mut numbers = Numbers(11);
    let mut queries: Vec<String> = (0..120).map(|number| numbers.text(1 + number % 9)).collect();
    queries.extend(
        ["\"word0 word1\"", "word0 OR word80", "word3 -word0", "word2 site:h1.test", "word70.word2"]
            .map(str::to_owned),
    );
    let now = time("2026-05-02T00:00:00Z");
    let mut longest = 0;
    for (query, vertical) in
        queries.iter().flat_map(|query| [(query, Vertical::Web), (query, Vertical::Images)])
    {
        let search = |limit| {
            let options = SearchOptions { vertical, limit, now, ..SearchOptions::default() };
            let hits = fixture.search(query, &options).hits;
            let address = |hit: &websvc_index::Hit| match vertical {
                Vertical::Images => image_address(hit).to_owned(),
                Vertical::Web | Vertical::News => hit.url.clone(),
            };
            hits.iter().map(|hit| (address(hit), hit.description.clone())).collect::<Vec<_>>()
        };
        let all = search(100);
        longest = longest.max(all.len());
        for limit in [1, 5, 10, 20, 30, 50] {
            assert_eq!(search(limit), all[..limit.min(all.len())], "{query:?}, {vertical:?}, limit {limit}");
        }
    }
    assert_eq!(longest, 100, "some queries have more hits than the first candidates");
}
