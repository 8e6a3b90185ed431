//! Structured data in which many parts share one: what is read must not be multiplied.

use crate::page::parse;
use websvc_types::product::PageProduct;

/// Maximum number of bytes of the images and options of a product.
const MAX_BYTES: usize = 9 << 20;

fn bytes(product: &PageProduct) -> usize {
    let variants = product.variants.iter();
    variants
        .map(|variant| {
            let options = variant.values.iter().map(|(key, value)| key.len() + value.len());
            let images = variant.images.iter().map(|image| image.url.len());
            options.sum::<usize>() + images.sum::<usize>()
        })
        .sum()
}

fn script(kind: &str, data: &str) -> String {
    format!("<script type=application/{kind}>{data}</script>")
}

/// Returns 20 long URLs as the images of an entity.
fn images() -> String {
    let urls: Vec<String> = (0..20).map(|i| format!("\"/{i}{}\"", "x".repeat(8_000))).collect();
    format!("[{}]", urls.join(","))
}

/// The copies would take 50 GB.
#[test]
fn references_of_a_nuxt_state_are_not_multiplied() {
    let references = vec!["1"; 50_000].join(",");
    for value in [format!("\"{}\"", "x".repeat(1 << 20)), format!("[\"Date\",\"{}\"]", "x".repeat(1 << 20))] {
        let state =
            format!("<script type=application/json id=__NUXT_DATA__>[[{references}],{value}]</script>");
        let product = script("ld+json", r#"{"@type":"Product","name":"Tea","offers":{"price":"4"}}"#);
        assert_eq!(parse(&format!("{state}{product}")).product().unwrap().title, "Tea");
    }
}

#[test]
fn images_of_a_product_are_not_multiplied_by_its_offers() {
    let offers: Vec<String> = (0..250).map(|i| format!(r#"{{"price":"4","sku":"{i}"}}"#)).collect();
    let data =
        format!(r#"{{"@type":"Product","name":"Tea","image":{},"offers":[{}]}}"#, images(), offers.join(","));
    let product = parse(&script("ld+json", &data)).product().unwrap();
    assert!(product.variants[0].images.len() == 20 && bytes(&product) < MAX_BYTES, "{}", bytes(&product));
    let variants: Vec<String> = (0..250).map(|i| format!(r#"{{"price":4.5,"sku":"{i}"}}"#)).collect();
    let data = format!(
        r#"{{"product":{{"name":"Tea","id":"1","images":{},"variants":[{}]}}}}"#,
        images(),
        variants.join(",")
    );
    let product = parse(&format!("<h1>Tea</h1>{}", script("json", &data))).product().unwrap();
    assert!(product.variants[0].images.len() == 20 && bytes(&product) < MAX_BYTES, "{}", bytes(&product));
}

/// Each of the products has the same 250 offers with the same images: 100 GB.
#[test]
fn products_that_share_offers_are_bounded() {
    let offers: Vec<String> = (0..250)
        .map(|i| format!(r#"{{"@type":"Offer","price":"4","sku":"{i}","itemOffered":{{"@id":"i"}}}}"#))
        .collect();
    let shared = format!(
        r#"{{"@id":"o","@type":"AggregateOffer","offers":[{}]}},{{"@id":"i","@type":"Thing","image":{}}}"#,
        offers.join(","),
        images()
    );
    let references = [r#"{"@id":"o"}"#; 10].join(",");
    let list = |kind: &str, property: &str| {
        let product =
            |i| format!(r#"{{"@id":"p{i}","@type":"{kind}","name":"P{i}","{property}":[{references}]}}"#);
        (0..1_500).map(product).collect::<Vec<_>>().join(",")
    };
    let page = parse(&script("ld+json", &format!("[{},{shared}]", list("Product", "offers"))));
    assert!(page.product().is_none(), "a list has no product");
    let members: Vec<String> = (0..250).map(|i| format!(r#"{{"@id":"p{i}"}}"#)).collect();
    let group = format!(r#"{{"@type":"ProductGroup","name":"Tea","hasVariant":[{}]}}"#, members.join(","));
    let page = parse(&script("ld+json", &format!("[{},{shared},{group}]", list("Thing", "offers"))));
    let product = page.product().unwrap();
    assert!(product.variants.len() <= 250 && bytes(&product) < MAX_BYTES, "{}", bytes(&product));
}

/// Each of the prices is next to the same text: 50 GB.
#[test]
fn text_around_prices_is_not_multiplied() {
    let state = script("json", r#"{"product":{"name":"Tea","id":"1","price":12}}"#);
    let text = "word ".repeat(200_000);
    let page =
        parse(&format!("<h1>Tea</h1>{state}<b>12.00</b><div>{text}{}</div>", "<b>x</b>".repeat(50_000)));
    assert_eq!(page.product().unwrap().variants[0].price.as_ref().unwrap().amount.to_string(), "12");
}

/// The class of the block would be read for each of its texts: 50 GB.
#[test]
fn class_of_a_block_is_not_multiplied_by_its_texts() {
    let class = "menu-section-title ".repeat(50_000);
    let items = "<h3>Soup</h3><p>4.50</p>".repeat(3);
    let page = parse(&format!(
        "<title>Menu</title><div class='{class}'>Soups</div>{items}<div class='{class}'>{}</div>",
        "a<b>b</b>".repeat(25_000)
    ));
    let menu = page.menu().unwrap();
    assert_eq!((menu.sections[0].name.as_str(), menu.sections[0].items.len()), ("Soups", 3));
}

/// Each of the items has the same property with a long text, or one with nothing but white space: 25 GB.
#[test]
fn text_of_a_property_is_not_multiplied_by_references() {
    for text in ["word ", "     "] {
        let text = text.repeat(1 << 20);
        let items = "<i itemscope itemref=x></i>".repeat(4_900);
        let page = parse(&format!(
            "<p itemscope itemtype=Product><b itemprop=name>Tea</b></p>{items}<p id=x itemprop=description>{text}</p>"
        ));
        assert_eq!(page.product().unwrap().title, "Tea");
    }
}

#[test]
fn menu_items_that_share_images_are_bounded() {
    let references = vec![r#"{"@id":"i"}"#; 2_000].join(",");
    let data = format!(
        r#"[{{"@type":"Menu","hasMenuItem":[{references}]}},{{"@id":"i","@type":"MenuItem","name":"Tea","image":{}}}]"#,
        images()
    );
    let menu = parse(&script("ld+json", &data)).menu().unwrap();
    let images = menu.sections.iter().flat_map(|section| &section.items).flat_map(|item| &item.images);
    let bytes: usize = images.map(|image| image.url.len()).sum();
    assert!(bytes < 2 * MAX_BYTES, "{bytes}");
}

/// Small blocks are parsed once, and large ones for each reader.
#[test]
fn json_ld_of_any_size_has_the_same_meaning_for_all_readers() {
    let product = r#"{"@type":"Product","name":"Tea","dateModified":"2026-05-05","offers":{"price":"4"}}"#;
    for count in [1, 10_000] {
        let page =
            parse(&script("ld+json", &format!("[{product}{}]", ",{\"@type\":\"WebSite\"}".repeat(count))));
        for _ in 0..2 {
            assert_eq!(page.metadata().modified_time.as_deref(), Some("2026-05-05"), "{count}");
            assert_eq!(page.product().unwrap().title, "Tea", "{count}");
        }
    }
}

/// Each of the items has the same extras, each of these the same options, and each of these the same offers: hours of work.
#[test]
fn extras_that_menu_items_share_are_bounded() {
    let references = |id: &str, count: usize| vec![format!(r#"{{"@id":"{id}"}}"#); count].join(",");
    let data = format!(
        r#"[{{"@type":"Menu","hasMenuItem":[{}]}},
            {{"@id":"i","@type":"MenuItem","name":"Tea","menuAddOn":[{}]}},
            {{"@id":"x","@type":"MenuSection","hasMenuItem":[{}]}},
            {{"@id":"o","@type":"MenuItem","offers":[{}]}},
            {{"@id":"f","@type":"Offer","priceSpecification":[{}]}},
            {{"@id":"s","@type":"UnitPriceSpecification"}},
            {{"@type":"Restaurant","name":"Teahouse"}}]"#,
        references("i", 2_000),
        references("x", 100),
        references("o", 100),
        references("f", 100),
        references("s", 20),
    );
    let menu = parse(&script("ld+json", &data)).menu().unwrap();
    assert_eq!(menu.sections[0].items[0].name, "Tea");
}

/// A string that is never closed is read for each name before it.
#[test]
fn broken_strings_are_charged() {
    let names = "dataLayer.push('dataLayer=`gtag(\"__STATE__='".repeat(50);
    let page = parse(&format!("<script>{names}{}</script>", "x".repeat(4_000_000)));
    assert!(page.product().is_none());
}
