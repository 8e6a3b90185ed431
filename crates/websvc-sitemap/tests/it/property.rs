//! Generated sitemaps are read as they were written; anything else does no harm.

use std::fmt::Write;

use proptest::prelude::*;

use crate::{gzip, items, urls};

/// How a URL stands in a file.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Escaped,
    CData,
    Numbers,
    Careless,
}

fn entry() -> impl Strategy<Value = (String, Spelling)> {
    let path = "[a-z0-9/]{0,12}(\\?[a-z]{1,3}=[a-z0-9]{0,3}(&[a-z]{1,3}=[0-9]{1,3}){0,2})?";
    let spelling = prop_oneof![
        Just(Spelling::Escaped),
        Just(Spelling::CData),
        Just(Spelling::Numbers),
        Just(Spelling::Careless)
    ];
    (path.prop_map(|path| format!("http://a.test/p{path}")), spelling)
}

/// Writes a sitemap, with what else may stand in one.
fn write(entries: &[(String, Spelling)], noise: &str, is_index: bool) -> String {
    let (root, element) = if is_index { ("sitemapindex", "sitemap") } else { ("urlset", "url") };
    let mut text = format!("<?xml version=\"1.0\"?><!-- {} --><{root}>\n", noise.replace('-', ""));
    for (url, spelling) in entries {
        let written = match spelling {
            Spelling::Escaped => url.replace('&', "&amp;"),
            Spelling::CData => format!("<![CDATA[{url}]]>"),
            Spelling::Numbers => url.replace('&', "&#38;").replace('/', "&#x2f;"),
            Spelling::Careless => url.clone(),
        };
        let noise = noise.replace(['<', '&'], "");
        write!(text, "<{element}><lastmod>{noise}</lastmod><loc>\n {written} </loc><x/></{element}>")
            .unwrap();
    }
    text + &format!("</{root}>")
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        entries in prop::collection::vec(entry(), 0..20),
        noise in "\\PC{0,20}",
        is_index: bool,
        is_packed: bool,
    ) {
        let text = write(&entries, &noise, is_index);
        let file = if is_packed { gzip(text.as_bytes()) } else { text.clone().into_bytes() };
        let mark = if is_index { "> " } else { "" };
        let expected: Vec<String> = entries.iter().map(|(url, _)| format!("{mark}{url}")).collect();
        prop_assert_eq!(urls(&file), expected, "{}", text);
        prop_assert_eq!(items(&file).1.fault, None);
    }

    #[test]
    fn what_is_left_of_a_file_is_read(
        entries in prop::collection::vec(entry(), 1..10),
        at in 0.0..1.0_f64,
    ) {
        let text = write(&entries, "noise", false);
        let cut = (text.len() as f64 * at) as usize;
        let (whole, part) = (urls(text.as_bytes()), urls(&text.as_bytes()[..cut]));
        prop_assert!(whole.starts_with(&part), "{:?} {:?}", whole, part);
        // Every location that is there to its end counts.
        prop_assert_eq!(part.len(), text[..cut].matches("</loc>").count());
    }

    #[test]
    fn anything_does_no_harm(file in prop::collection::vec(any::<u8>(), 0..300), head in 0..4_usize) {
        let head = [&b""[..], b"<urlset><url><loc>", b"<rss><item><link>", b"\xff\xfe<\0u\0r\0l\0"][head];
        let file = [head, &file].concat();
        let (items, reading) = items(&file);
        prop_assert_eq!(items.len(), reading.items);
    }
}
