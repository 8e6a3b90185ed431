//! The images of a page with the text around them.

use crate::page::parse;
use websvc_extract::{ImageDetail, MAX_IMAGES, image_size};

/// Returns each image as `path alt|caption|context WIDTHxHEIGHT`.
fn describe(html: &str) -> Vec<String> {
    let length = |side: Option<u32>| side.map_or("?".to_owned(), |side| side.to_string());
    let line = |image: &ImageDetail| {
        let ImageDetail { url, alt, caption, context, width, height } = image;
        let path = url.strip_prefix("https://example.com/").unwrap_or(url);
        format!("{path} {alt}|{caption}|{context} {}x{}", length(*width), length(*height))
    };
    parse(html).image_details().iter().map(line).collect()
}

#[track_caller]
fn check(html: &str, expected: &[&str]) {
    assert_eq!(describe(html), expected, "{html}");
}

#[test]
fn image_has_its_alt_caption_context_and_size() {
    let page = "<head><meta property=og:image content=/share.jpg><meta property='og:image:width' content=1200>\
        <meta property='og:image:height' content='630'><meta property='og:image:alt' content='A pot'></head>\
        <body><p>First words.</p><figure><img src=a.jpg alt=' Green  tea ' width=640 height=480>\
        <figcaption>Tea from <b>Uji</b></figcaption></figure><p>Leaves are steamed right after the harvest.</p>\
        <p>A cup <img src=/b.png title=Cup> of sencha, poured out in small sips.</p></body>";
    check(
        page,
        &[
            "share.jpg A pot|| 1200x630",
            "dir/a.jpg Green tea|Tea from Uji|Leaves are steamed right after the harvest. 640x480",
            "b.png Cup||A cup of sencha, poured out in small sips. ?x?",
        ],
    );
}

#[test]
fn context_of_image_does_not_include_the_next_card() {
    let cards = "<ul><li><img src=1.jpg><h3>One</h3></li><li><img src=2.jpg><h3>Two</h3></li></ul>";
    check(cards, &["dir/1.jpg ||One ?x?", "dir/2.jpg ||Two ?x?"]);
    check("<div><p>Only text before it.</p><img src=1.jpg></div>", &["dir/1.jpg ||Only text before it. ?x?"]);
}

#[test]
fn context_is_limited() {
    let page = format!("<p><img src=1.jpg>{}</p>", "word ".repeat(200));
    let context = parse(&page).image_details()[0].context.clone();
    assert!(context.len() <= 200 && context.ends_with("word"), "{context}");
}

#[test]
fn size_is_in_whole_pixels_or_unknown() {
    check("<img src=a.jpg width=100% height=auto>", &["dir/a.jpg || ?x?"]);
    check("<img src=a.jpg width=10.5 height=-4>", &["dir/a.jpg || ?x?"]);
    check("<img src=a.jpg width=' 640px' height=0>", &["dir/a.jpg || 640x?"]);
    check("<img src=a.jpg style='max-width:9px; Width: 300px; height:2em'>", &["dir/a.jpg || 300x?"]);
    check("<img src=a.jpg width=99999999999>", &["dir/a.jpg || ?x?"]);
}

#[test]
fn widest_srcset_candidate_is_used_with_its_width() {
    let set = "<img src=a.jpg width=400 height=300 srcset='b.jpg 800w, c.jpg 1600w'>";
    check(set, &["dir/c.jpg || 1600x1200"]);
    let odd = "<img src=a.jpg width=300 height=200 srcset='b.jpg 1000w'>";
    check(odd, &["dir/b.jpg || 1000x?"]);
    let narrower = "<img src=a.jpg width=900 height=600 srcset='b.jpg 320w'>";
    check(narrower, &["dir/a.jpg || 900x600"]);
    // A pixel density does not determine the size of the file.
    check("<img src=a.jpg width=300 srcset='b.jpg 2x'>", &["dir/a.jpg || 300x?"]);
    let picture = "<picture><source srcset='s.avif 500w, l.avif 1000w' width=500 height=250>\
        <img src=a.jpg alt=Pot width=400 height=400></picture>";
    check(picture, &["dir/l.avif Pot|| 1000x500"]);
}

#[test]
fn lazy_image_is_found_once() {
    check("<img src='data:image/gif;base64,R0lGOD' data-src=real.jpg>", &["dir/real.jpg || ?x?"]);
    let page = "<img src=/placeholder.png data-src=real.jpg><noscript><img src=real.jpg alt=Real></noscript>";
    check(page, &["dir/real.jpg Real|| ?x?"]);
    let again =
        "<meta property=og:image content=/a.jpg><img src=/a.jpg alt=Pot width=50 height=40><img src=/a.jpg>";
    check(again, &["a.jpg Pot|| 50x40"]);
}

#[test]
fn og_image_and_its_secure_url_are_one_image() {
    let page = "<meta property=og:image content=http://example.com/a.jpg>\
        <meta property=og:image:secure_url content=https://example.com/a.jpg><meta property=og:image:width content=600>";
    check(page, &["http://example.com/a.jpg || 600x?"]);
}

#[test]
fn decoration_is_skipped() {
    let decorations = [
        "<img src='data:image/png;base64,AAAA'>",
        "<img src=t.gif width=1 height=1>",
        "<img src=t.jpg width=16>",
        "<img src=favicon.ico>",
        "<img src=/img/favicon-32x32.png>",
        "<img src=icons-sprite.svg>",
        "<img src=spacer.gif>",
        "<img src='javascript:x'>",
        "<img alt='no source'>",
        "<template><img src=a.jpg></template>",
    ];
    for html in decorations {
        check(html, &[]);
    }
    // A file name that merely contains such a word is an image.
    check("<img src=spritely-dog.jpg width=32>", &["dir/spritely-dog.jpg || 32x?"]);
}

#[test]
fn described_images_are_limited() {
    let page: String = (0..MAX_IMAGES + 50).map(|number| format!("<p><img src={number}.jpg>")).collect();
    assert_eq!(parse(&page).image_details().len(), MAX_IMAGES);
}

/// Returns the first bytes of files of 300 by 200 pixels, one of each format.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let webp = |chunk: &[u8]| [b"RIFF\0\0\0\0WEBP", chunk].concat();
    let lossless = (299_u32 | 199 << 14).to_le_bytes();
    vec![
        ("png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x2c\0\0\0\xc8".to_vec()),
        ("gif", b"GIF89a\x2c\x01\xc8\0".to_vec()),
        ("jpeg", b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03x\xff\xc2\0\x11\x08\0\xc8\x01\x2c".to_vec()),
        ("webp, lossy", webp(b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x01\xc8\0")),
        ("webp, lossless", webp(&[b"VP8L\0\0\0\0\x2f", &lossless[..]].concat())),
        ("webp, extended", webp(b"VP8X\x0a\0\0\0\0\0\0\0\x2b\x01\0\xc7\0\0")),
        (
            "avif of tiles",
            b"\0\0\0\x14ftypavif\0\0\0\0mif1\0\0\0\x14ispe\0\0\0\0\0\0\0\x40\0\0\0\x40\
              \0\0\0\x14ispe\0\0\0\0\0\0\x01\x2c\0\0\0\xc8"
                .to_vec(),
        ),
        ("svg", b"<?xml version='1.0'?><svg width='300px' height='200'/>".to_vec()),
        (
            "svg, view box",
            b"<svg width='100%' viewBox='0,0 300 200'><svg width='1' height='1'/></svg>".to_vec(),
        ),
    ]
}

#[test]
fn image_size_is_read_from_the_first_bytes() {
    for (kind, bytes) in files() {
        assert_eq!(image_size(&bytes), Some((300, 200)), "{kind}");
    }
}

#[test]
fn truncated_image_file_has_no_size() {
    for (kind, bytes) in files() {
        for end in 0..bytes.len() {
            let size = image_size(&bytes[..end]);
            // An SVG is parsed as in a browser, which closes open elements. In an AVIF the size of the tiles comes
            // first.
            let is_expected = kind.starts_with("svg") || size == Some((64, 64));
            assert!(size.is_none() || is_expected, "{kind} at {end}: {size:?}");
        }
    }
    for bytes in
        [&b"GIF89a\0\0\0\0"[..], b"\xff\xd8\xff\xda", b"<p>no image", b"<svg viewBox='0 0 1.5 2'/>", b""]
    {
        assert_eq!(image_size(bytes), None);
    }
}
