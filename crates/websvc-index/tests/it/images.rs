//! Searches for the images of pages.

use websvc_index::{Document, Image, SearchOptions, Vertical};

use crate::support::{Fixture, exclude, image_address, include, page, tbs, time};

fn image(address: &str, alt: &str) -> Image {
    Image { url: format!("https://{address}"), alt: alt.to_owned(), ..Image::default() }
}

fn sized(address: &str, alt: &str, width: u32, height: u32) -> Image {
    Image { width: Some(width), height: Some(height), ..image(address, alt) }
}

fn with_images(page: Document, images: impl Into<Vec<Image>>) -> Document {
    Document { images: images.into(), ..page }
}

fn gallery() -> Fixture {
    let birds = Document {
        published: Some(time("2024-12-30T00:00:00Z")),
        ..page("birds.test/heron", "Birds of the coast", "Long text about birds, waders and gulls.")
    };
    let boats = Document {
        published: Some(time("2020-01-01T00:00:00Z")),
        ..page("www.boats.test/", "Boats", "On boats.")
    };
    Fixture::new([
        with_images(
            birds,
            [
                sized("cdn.test/a/grey-heron.jpg", "A heron in flight", 800, 600),
                sized("cdn.test/a/42.png", "", 1920, 1080),
                Image {
                    caption: "The nest of the stork".to_owned(),
                    context: "Storks build on chimneys.".to_owned(),
                    ..image("cdn.test/a/43.webp", "")
                },
                sized("cdn.test/pixel.gif", "heron", 1, 1),
                Image { url: "data:image/png;base64,AAAA".to_owned(), ..image("", "heron") },
                sized("cdn.test/a/grey-heron.jpg", "A heron in flight", 800, 600),
            ],
        ),
        with_images(
            boats,
            [
                sized("cdn.test/b/sail_boat.JPG", "Sailing", 1920, 1080),
                image("cdn.test/a/grey-heron.jpg", "A heron"),
            ],
        ),
    ])
}

#[test]
fn images_are_found_by_alt_text_caption_context_url_and_page_title() {
    let gallery = gallery();
    let check =
        |query: &str, expected: &[&str]| gallery.check_images(query, SearchOptions::default(), expected);
    check("heron flight", &["cdn.test/a/grey-heron.jpg"]);
    check("nest stork", &["cdn.test/a/43.webp"]);
    check("chimneys", &["cdn.test/a/43.webp"]);
    check("sail", &["cdn.test/b/sail_boat.JPG"]);
    check("coast", &["cdn.test/a/42.png", "cdn.test/a/43.webp", "cdn.test/a/grey-heron.jpg"]);
    check("gulls", &[]);
    check("\"nest of the stork\"", &["cdn.test/a/43.webp"]);
    check("coast -stork", &["cdn.test/a/42.png", "cdn.test/a/grey-heron.jpg"]);
    check("intitle:sailing", &["cdn.test/b/sail_boat.JPG"]);
    check("inurl:sail_boat", &["cdn.test/b/sail_boat.JPG"]);
}

#[test]
fn image_hit_has_image_size_title_and_page() {
    let options = SearchOptions { vertical: Vertical::Images, ..SearchOptions::default() };
    let hits = gallery().search("flight", &options).hits;
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!(hit.title, "A heron in flight");
    assert_eq!(hit.url, "https://birds.test/heron");
    let image = hit.image.as_ref().expect("an image");
    assert_eq!(
        (image.url.as_str(), image.width, image.height),
        ("https://cdn.test/a/grey-heron.jpg", Some(800), Some(600))
    );
    let hits = gallery().search("inurl:42", &options).hits;
    assert_eq!(hits[0].title, "Birds of the coast", "the title of the page if the image has no text");
    let hits = gallery().search("chimneys", &options).hits;
    assert_eq!(hits[0].title, "The nest of the stork");
    assert_eq!(hits[0].description, "Storks build on chimneys.");
}

#[test]
fn images_are_filtered_by_size_type_site_and_date() {
    let gallery = gallery();
    let check =
        |query: &str, expected: &[&str]| gallery.check_images(query, SearchOptions::default(), expected);
    check("imagesize:1920x1080", &["cdn.test/a/42.png", "cdn.test/b/sail_boat.JPG"]);
    check("imagesize:1080x1920", &[]);
    check("imagesize:1920x1080 site:birds.test", &["cdn.test/a/42.png"]);
    check("larger:800x600", &["cdn.test/a/42.png", "cdn.test/b/sail_boat.JPG"]);
    check("larger:800x599", &["cdn.test/a/42.png", "cdn.test/a/grey-heron.jpg", "cdn.test/b/sail_boat.JPG"]);
    check("larger:100x1081", &[]);
    check("coast -larger:1000x1000", &["cdn.test/a/43.webp", "cdn.test/a/grey-heron.jpg"]);
    check("imagesize:800x600 OR filetype:webp", &["cdn.test/a/43.webp", "cdn.test/a/grey-heron.jpg"]);
    check("filetype:jpg", &["cdn.test/a/grey-heron.jpg", "cdn.test/b/sail_boat.JPG"]);
    check("filetype:jpeg sailing", &["cdn.test/b/sail_boat.JPG"]);
    check("site:boats.test -heron", &["cdn.test/b/sail_boat.JPG"]);
    let with_domains = |domains| SearchOptions { domains, ..SearchOptions::default() };
    gallery.check_images(
        "sailing coast",
        with_domains(include(&["boats.test"])),
        &["cdn.test/b/sail_boat.JPG"],
    );
    gallery.check_images("larger:900x900", with_domains(exclude(&["boats.test"])), &["cdn.test/a/42.png"]);
    gallery.check_images("larger:900x900", tbs("qdr:w"), &["cdn.test/a/42.png"]);
    gallery.check_images("larger:900x900", tbs("cdr:1,cd_max:01/02/2020"), &["cdn.test/b/sail_boat.JPG"]);
    let newest = SearchOptions { vertical: Vertical::Images, ..tbs("sbd:1") };
    let hits = gallery.search("larger:900x900", &newest).hits;
    assert_eq!(
        hits.iter().map(image_address).collect::<Vec<_>>(),
        ["cdn.test/a/42.png", "cdn.test/b/sail_boat.JPG"]
    );
}

#[test]
fn image_on_many_pages_is_one_hit_and_hides_no_other_image() {
    let many = (0..400).map(|number| {
        with_images(
            page(&format!("a.test/{number}"), "Page", "text"),
            [image("a.test/logo.svg", "Logo of the firm")],
        )
    });
    let other = with_images(
        page("b.test/", "Page", "text"),
        [image("b.test/x.png", "An old and very long winded word on a logo")],
    );
    Fixture::new(many.chain([other])).check_images(
        "logo",
        SearchOptions::default(),
        &["a.test/logo.svg", "b.test/x.png"],
    );
}

#[test]
fn images_are_added_changed_and_removed_with_their_page() {
    let fixture = Fixture::new([
        with_images(
            page("a.test/", "A", "x"),
            [image("a.test/cat.png", "cat"), image("a.test/dog.png", "dog")],
        ),
        with_images(page("b.test/", "B", "x"), [image("a.test/cat.png", "cat")]),
    ]);
    let check =
        |query: &str, expected: &[&str]| fixture.check_images(query, SearchOptions::default(), expected);
    let stats = || fixture.index.stats().expect("readable");
    assert_eq!((stats().documents, stats().images), (2, 3), "images do not count as documents");
    assert_eq!(fixture.index.urls(None, 10).expect("readable").len(), 2);
    fixture.check_set("-absent", &["a.test/", "b.test/"]);
    fixture
        .index
        .add(with_images(page("a.test/", "A", "x"), [image("a.test/dog.png", "hound")]))
        .expect("valid");
    fixture.index.flush().expect("a working disk");
    check("cat", &["a.test/cat.png"]);
    check("dog", &["a.test/dog.png"]);
    check("hound", &["a.test/dog.png"]);
    fixture.index.add(page("a.test/", "A", "x")).expect("valid");
    fixture.index.remove("https://b.test/").expect("a working disk");
    fixture.index.flush().expect("a working disk");
    check("cat OR dog OR hound", &[]);
    assert_eq!(stats().images, 0);
    fixture.index.optimize().expect("a working disk");
    fixture.check("x", &["a.test/"]);
}

#[test]
fn images_of_a_page_are_limited() {
    let images: Vec<_> = (0..200).map(|number| image(&format!("a.test/{number}.png"), "tile")).collect();
    let fixture = Fixture::new([with_images(page("a.test/", "A", "x"), images)]);
    assert_eq!(fixture.index.stats().expect("readable").images, 50);
}

#[test]
fn image_search_without_images_returns_no_hits_and_no_warnings() {
    let outcome = Fixture::new([page("a.test/", "A", "cat")])
        .search("cat larger:2x2", &SearchOptions { vertical: Vertical::Images, ..SearchOptions::default() });
    assert_eq!((outcome.hits.len(), outcome.warnings.len()), (0, 0));
}
