//! Properties: generated sitemaps are read completely, and no file causes a panic.

use std::fmt::Write;

use proptest::prelude::*;

use super::{gzip, items, urls};

/// Spelling of a URL in a file.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Escaped,
    CData,
    CharacterReferences,
    Unescaped,
}

fn entry() -> impl Strategy<Value = (String, Spelling)> {
    let path = "[a-z0-9/]{0,12}(\\?[a-z]{1,3}=[a-z0-9]{0,3}(&[a-z]{1,3}=[0-9]{1,3}){0,2})?";
    let spelling = prop_oneof![
        Just(Spelling::Escaped),
        Just(Spelling::CData),
        Just(Spelling::CharacterReferences),
        Just(Spelling::Unescaped)
    ];
    (path.prop_map(|path| format!("http://a.test/p{path}")), spelling)
}

/// Writes a sitemap that also has comments and other elements.
fn sitemap(entries: &[(String, Spelling)], noise: &str, is_index: bool) -> String {
    let (root, element) = if is_index { ("sitemapindex", "sitemap") } else { ("urlset", "url") };
    let mut text = format!("<?xml version=\"1.0\"?><!-- {} --><{root}>\n", noise.replace('-', ""));
    for (url, spelling) in entries {
        let location = match spelling {
            Spelling::Escaped => url.replace('&', "&amp;"),
            Spelling::CData => format!("<![CDATA[{url}]]>"),
            Spelling::CharacterReferences => url.replace('&', "&#38;").replace('/', "&#x2f;"),
            Spelling::Unescaped => url.clone(),
        };
        let noise = noise.replace(['<', '&'], "");
        write!(text, "<{element}><lastmod>{noise}</lastmod><loc>\n {location} </loc><x/></{element}>")
            .unwrap();
    }
    text + &format!("</{root}>")
}

proptest! {
    #[test]
    fn every_entry_of_a_sitemap_is_read(
        entries in prop::collection::vec(entry(), 0..20),
        noise in "\\PC{0,20}",
        is_index: bool,
        is_compressed: bool,
    ) {
        let text = sitemap(&entries, &noise, is_index);
        let file = if is_compressed { gzip(text.as_bytes()) } else { text.clone().into_bytes() };
        let prefix = if is_index { "> " } else { "" };
        let expected: Vec<String> = entries.iter().map(|(url, _)| format!("{prefix}{url}")).collect();
        prop_assert_eq!(urls(&file), expected, "{}", text);
        prop_assert_eq!(items(&file).1.incomplete, None);
    }

    #[test]
    fn every_complete_location_of_a_truncated_sitemap_is_read(
        entries in prop::collection::vec(entry(), 1..10),
        share in 0.0..1.0_f64,
    ) {
        let text = sitemap(&entries, "noise", false);
        let cut = (text.len() as f64 * share) as usize;
        let (all, before_cut) = (urls(text.as_bytes()), urls(&text.as_bytes()[..cut]));
        prop_assert!(all.starts_with(&before_cut), "{:?} {:?}", all, before_cut);
        prop_assert_eq!(before_cut.len(), text[..cut].matches("</loc>").count());
    }

    #[test]
    fn any_file_is_read_without_panic(file in prop::collection::vec(any::<u8>(), 0..300), head in 0..4_usize) {
        let head = [&b""[..], b"<urlset><url><loc>", b"<rss><item><link>", b"\xff\xfe<\0u\0r\0l\0"][head];
        let file = [head, &file].concat();
        let (items, summary) = items(&file);
        prop_assert_eq!(items.len(), summary.items);
    }
}
