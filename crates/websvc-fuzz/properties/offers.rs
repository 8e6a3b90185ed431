//! Properties of the readers of structured data, products and menus for any page.

use std::collections::HashSet;

use websvc_extract::{Document, Source};
use websvc_types::limits::{
    MENU_ITEMS_MAX, MENU_SECTIONS_MAX, PRODUCT_DESCRIPTION_MAX_CHARS, PRODUCT_IMAGES_MAX,
    PRODUCT_VARIANTS_MAX,
};
use websvc_types::menu::PageMenu;
use websvc_types::product::{PageProduct, Price};

/// Checks that reading ends, that the results are within their limits, that IDs of a menu are unique, and that a sale is
/// higher than the price.
pub(crate) fn check(data: &[u8]) {
    let url = "http://a.test/dir/page".parse().expect("the URL is valid");
    let source = Source { bytes: data, content_type: Some("text/html; charset=utf-8"), url: &url };
    let Ok(page) = Document::parse(source) else { return };
    if let Some(product) = page.product() {
        check_product(&product);
    }
    if let Some(menu) = page.menu() {
        check_menu(&menu);
    }
}

fn check_product(product: &PageProduct) {
    let PageProduct { title, url, brand: _, category: _, description, variants } = product;
    assert!(!title.is_empty() && url.starts_with("http"), "{title:?} {url:?}");
    let length = description.as_ref().map_or(0, |text| text.chars().count());
    assert!(length <= PRODUCT_DESCRIPTION_MAX_CHARS);
    assert!((1..=PRODUCT_VARIANTS_MAX).contains(&variants.len()));
    for variant in variants {
        assert!(variant.images.len() <= PRODUCT_IMAGES_MAX);
        assert!(variant.images.iter().all(|image| image.url.starts_with("http")));
        let Some(price) = &variant.price else {
            assert!(variant.sale.is_none());
            continue;
        };
        check_price(price);
        if let Some(sale) = &variant.sale {
            assert!(sale.original_price.amount > price.amount, "{sale:?} {price:?}");
        }
    }
}

fn check_menu(menu: &PageMenu) {
    assert!(menu.is_menu && (0.5..=1.0).contains(&menu.confidence));
    assert!(!menu.merchant.name.is_empty());
    assert!((1..=MENU_SECTIONS_MAX).contains(&menu.sections.len()));
    let items = || menu.sections.iter().flat_map(|section| &section.items);
    assert!((1..=MENU_ITEMS_MAX).contains(&items().count()));
    let ids: HashSet<&str> = items().map(|item| item.id.as_str()).collect();
    assert_eq!(ids.len(), items().count());
    let ids: HashSet<&str> = menu.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids.len(), menu.sections.len());
    for item in items() {
        assert!(!item.name.is_empty() && item.source_url == menu.source_url);
        item.price.iter().for_each(check_price);
    }
}

fn check_price(price: &Price) {
    assert!(price.amount.is_finite() && price.amount >= 0.0, "{price:?}");
    let is_code = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    assert!(price.currency.as_ref().is_none_or(is_code), "{price:?}");
}
