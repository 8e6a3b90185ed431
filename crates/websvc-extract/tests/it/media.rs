//! Tests of the images, videos and players of the main content: they stay unless their own block goes.

use crate::page::parse;
use websvc_extract::ContentOptions;

const PROSE: &str = "<p>The kiln was lit on a Tuesday, because Tuesdays were the only days on which the wind came from the hills. \
    Nobody in the village had ever asked why the wind kept to the calendar.</p><p>By the evening the glaze had turned from \
    grey to a blue that the potter had not ordered, and three neighbors came to look at it through the small door.</p>";

/// Returns the markdown of the main content of an article with a site around it.
fn article(content: &str) -> String {
    let html = format!(
        "<html><head><title>The kiln</title></head><body><header><a href=/><img src=/site-logo.png alt=Potters></a><nav><a \
         href=/>Home</a> <a href=/n>News</a></nav></header><main><article>{content}</article></main><aside><h4>Popular</h4><div \
         class=card><img src=/teaser.jpg><a href=/1>Ten bowls</a></div></aside><footer><img src=/badge.png><p>Copyright 2026 \
         Potters</p></footer></body></html>"
    );
    parse(&html).content(&ContentOptions::default()).markdown()
}

#[track_caller]
fn check(content: &str, kept: &[&str], left_out: &[&str]) {
    let markdown = article(content);
    for name in kept {
        assert!(markdown.contains(name), "{name} is not in {markdown}");
    }
    for name in ["site-logo", "teaser", "badge"].iter().chain(left_out) {
        assert!(!markdown.contains(name), "{name} is in {markdown}");
    }
}

#[test]
fn image_before_the_heading_or_after_the_text_is_kept() {
    check(
        &format!("<figure><img src=/top.jpg alt=Kiln></figure><h1>The kiln</h1>{PROSE}"),
        &["top.jpg"],
        &[],
    );
    check(&format!("<div class=hero><img src=/top.jpg></div><h1>The kiln</h1>{PROSE}"), &["top.jpg"], &[]);
    check(&format!("<h1>The kiln</h1>{PROSE}<p><img src=/end.jpg></p>"), &["end.jpg"], &[]);
    check(&format!("<h1>The kiln</h1>{PROSE}<p>Look: <img src=/inline.jpg></p>"), &["inline.jpg"], &[]);
    check(&format!("<h1>The kiln</h1>{PROSE}<p>So <img src=/q.svg alt=q=7 height=16></p>"), &["q=7"], &[]);
    let table = "<hr><table><tr><td><img src=/a.jpg></td><td><img src=/b.jpg></td></tr></table>";
    check(&format!("<h1>The kiln</h1>{PROSE}{table}"), &["a.jpg", "b.jpg"], &[]);
}

#[test]
fn image_next_to_removed_text_is_kept_if_it_has_its_own_block() {
    let share = "<div class=share-bar><a href=/s1>Facebook</a><a href=/s2>X</a></div>";
    check(
        &format!("<h1>The kiln</h1>{share}<figure><img src=/hero.jpg></figure>{PROSE}"),
        &["hero.jpg"],
        &[],
    );
    check(
        &format!("<h1>The kiln</h1>{PROSE}<figure><img src=/last.jpg></figure>{share}"),
        &["last.jpg"],
        &[],
    );
    let related = "<section class=related><h3>Related</h3><div><img src=/other.jpg><a href=/2>Old kilns</a></div><div><img \
                   src=/third.jpg><a href=/3>New kilns</a></div></section>";
    check(
        &format!("<h1>The kiln</h1>{PROSE}<img src=/last.jpg>{related}"),
        &["last.jpg"],
        &["other.jpg", "third.jpg"],
    );
}

#[test]
fn images_of_steps_galleries_and_picture_pages_are_kept() {
    let step =
        |n: u8| format!("<li><p>Step {n}: knead the clay until it is warm.</p><img src=/s{n}.jpg></li>");
    check(
        &format!("<h1>Bowl</h1><ol>{}{}{}</ol>", step(1), step(2), step(3)),
        &["s1.jpg", "s2.jpg", "s3.jpg"],
        &[],
    );
    let gallery = "<div class=gallery><img src=/g1.jpg><img src=/g2.jpg></div>";
    check(
        &format!("{gallery}<h1>Bowl</h1><p>$30</p><p>A bowl from the blue kiln.</p>"),
        &["g1.jpg", "g2.jpg"],
        &[],
    );
    check(&format!("<h1>The kiln</h1>{PROSE}{gallery}"), &["g1.jpg", "g2.jpg"], &[]);
    check("<h1>The kiln, part 7</h1><div id=comic><img src=/c.jpg></div>", &["c.jpg"], &[]);
    check("<img src=/p1.jpg alt=One><img src=/p2.jpg alt=Two>", &["p1.jpg", "p2.jpg"], &["Copyright"]);
}

#[test]
fn videos_sounds_and_players_are_kept_as_links() {
    let player = "<iframe src='https://www.youtube.com/embed/kiln123' title='The fire'></iframe>";
    let video = "<figure><video controls><source src=/fire.mp4></video></figure>";
    let sound = "<audio src=/crackle.mp3 controls></audio>";
    check(
        &format!("{player}<h1>The kiln</h1>{PROSE}{video}{PROSE}{sound}"),
        &["watch?v=kiln123", "fire.mp4", "crackle.mp3"],
        &[],
    );
}

#[test]
fn icons_portraits_and_logos_outside_the_text_are_left_out() {
    let author =
        "<div class=author-box><img src=/face.jpg><p>About Ann. Subscribe to her newsletter.</p></div>";
    check(
        &format!(
            "<div class=logo><img src=/brand.png></div><h1>The kiln</h1>{PROSE}<img src=/dot.png width=1 height=1>{author}"
        ),
        &[],
        &["brand.png", "dot.png"],
    );
}

#[test]
fn heading_of_the_page_is_kept_wherever_it_stands() {
    let prose = PROSE.repeat(6);
    let html = format!(
        "<html><head><title>The kiln | Potters</title></head><body><div class=masthead><div class=site-header><h1>The \
         kiln</h1><a href=/c>Crafts</a></div></div><nav><a href=/>Home</a></nav><div class=post-content>{prose}</div>"
    );
    let page = parse(&html);
    let content = page.content(&ContentOptions::default());
    assert!(content.markdown().starts_with("# The kiln\n"), "{}", content.markdown());
    assert_eq!(content.headings(), ["The kiln"]);
    let site = html.replace("<h1>The kiln</h1>", "<h1><a href=/>Potters</a></h1>");
    let markdown = parse(&site).content(&ContentOptions::default()).markdown();
    assert!(!markdown.contains("Potters"), "the name of the site is not a heading: {markdown}");
}
