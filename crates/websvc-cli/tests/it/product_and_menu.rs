//! Tests of the formats `product` and `menu`, in all operations that scrape (operations.md, acceptance list 8).

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{read_all, start_at, wait_for_end};
use crate::harness::{Service, assert_fields};
use crate::parsing::parse;
use crate::sdk;

const PRODUCT: &str = r#"<title>Teapot | Shop</title><main><h1>Teapot</h1><p>Of iron, for green tea.</p></main>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Teapot","sku":"T1",
"brand":{"@type":"Brand","name":"Iwachu"},"offers":{"@type":"Offer","price":"49.99","priceCurrency":"USD",
"availability":"https://schema.org/InStock"}}</script>"#;

const MENU: &str = r#"<title>Menu</title><h1>Menu</h1><script type="application/ld+json">{"@type":"Restaurant",
"name":"Tea House","hasMenu":{"@type":"Menu","hasMenuSection":[{"@type":"MenuSection","name":"Tea",
"hasMenuSection":[{"@type":"MenuSection","name":"Green","hasMenuItem":[{"@type":"MenuItem","name":"House tea",
"offers":{"@type":"Offer","price":4.5,"priceCurrency":"EUR"}}]},{"@type":"MenuSection","name":"Black","hasMenuItem":[
{"@type":"MenuItem","name":"House tea","suitableForDiet":"https://schema.org/VeganDiet"}]}]}]}}</script>"#;

const ABOUT: &str = "<title>About us</title><main><h1>About us</h1><p>We sell tea since 1990.</p></main>";

/// Serves a page and scrapes it with these formats. Returns the document.
async fn scrape(html: &str, formats: Value) -> Value {
    let world = TestWeb::builder().page("http://shop.test/p", Page::html(html.to_owned())).start().await;
    let service = Service::for_world(&world);
    let body = json!({ "url": "http://shop.test/p", "formats": formats });
    let response = service.post("/v2/scrape", body.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    response.body["data"].clone()
}

async fn product(html: &str) -> Value {
    scrape(html, json!(["product"])).await["product"].clone()
}

#[track_caller]
fn assert_none(document: &Value, format: &str, warning: &str) {
    assert!(document.get(format).is_none(), "{document}");
    let text = document["warning"].as_str().unwrap_or_default();
    assert!(text.contains(warning), "{document}");
}

#[tokio::test]
async fn product_of_json_ld_has_its_price_and_stock() {
    let document = scrape(PRODUCT, json!(["markdown", { "type": "product" }])).await;
    let expected = json!({
        "title": "Teapot", "url": "http://shop.test/p", "brand": "Iwachu",
        "variants": [{
            "sku": "T1",
            "price": { "amount": 49.99, "currency": "USD" },
            "availability": { "inStock": true, "text": "InStock" },
        }],
    });
    assert_eq!(document["product"], expected);
    assert_eq!(document["metadata"]["creditsUsed"], 1);
    assert!(document.get("warning").is_none() && document.get("menu").is_none(), "{document}");
}

#[tokio::test]
async fn product_group_has_a_variant_for_each_member() {
    let member = |color: &str, price: &str| {
        json!({ "@type": "Product", "name": format!("Cup {color}"), "sku": color, "color": color, "offers": {
            "@type": "Offer", "price": price, "priceCurrency": "EUR" } })
    };
    let group = json!({ "@type": "ProductGroup", "name": "Cup", "variesBy": "https://schema.org/color",
        "hasVariant": [member("Red", "9.00"), member("Blue", "9.50"), member("Black", "12.00")] });
    let html = format!("<h1>Cup</h1><script type='application/ld+json'>{group}</script>");
    let product = product(&html).await;
    let variants = product["variants"].as_array().unwrap();
    let values: Vec<&Value> = variants.iter().map(|variant| &variant["values"]["color"]).collect();
    assert_eq!(values, ["Red", "Blue", "Black"]);
    assert_eq!(variants[2]["price"], json!({ "amount": 12.0, "currency": "EUR" }));
    assert_eq!(variants[0]["title"], "Cup Red");
}

#[tokio::test]
async fn microdata_rdfa_and_open_graph_are_read_alone() {
    let microdata = r#"<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Cup</h1><div
        itemprop="offers" itemscope itemtype="https://schema.org/Offer"><span itemprop="price">1.299,00 €</span>
        <link itemprop="availability" href="https://schema.org/OutOfStock"></div></div>"#;
    let rdfa = r#"<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Cup</h1><div property="offers"
        typeof="Offer"><span property="price" content="1299">€ 1299</span><meta property="priceCurrency" content="EUR">
        <link property="availability" href="https://schema.org/OutOfStock"></div></div>"#;
    let open_graph = r#"<meta property="og:title" content="Cup"><meta property="product:price:amount" content="1299">
        <meta property="product:price:currency" content="EUR"><meta property="product:availability" content="oos">"#;
    for html in [microdata, rdfa, open_graph] {
        let product = product(html).await;
        assert_eq!(product["title"], "Cup", "{html}");
        let variant = &product["variants"][0];
        assert_fields(&variant["price"], &json!({ "amount": 1299.0, "currency": "EUR" }));
        assert_eq!(variant["availability"]["inStock"], false, "{html}");
    }
}

#[tokio::test]
async fn page_without_exactly_one_product_has_none() {
    let title_only = r#"<meta property="og:title" content="Cup"><meta property="og:type" content="product">"#;
    let listed = |number: u32| {
        json!({ "@type": "Product", "name": format!("Cup {number}"),
            "offers": { "@type": "Offer", "price": number + 5, "priceCurrency": "EUR" } })
    };
    let listing: Vec<Value> = (0..10).map(listed).collect();
    let listing = format!("<h1>Cups</h1><script type='application/ld+json'>{}</script>", json!(listing));
    for html in [ABOUT, title_only, &listing] {
        let document = scrape(html, json!(["markdown", "product"])).await;
        assert_none(&document, "product", "No product found");
    }
}

#[tokio::test]
async fn sale_needs_a_higher_original_price() {
    let html = |list_price: &str| {
        let offer = json!({ "@type": "Offer", "price": "20.00", "priceCurrency": "EUR", "priceSpecification": {
            "@type": "UnitPriceSpecification", "priceType": "https://schema.org/ListPrice", "price": list_price } });
        let product = json!({ "@type": "Product", "name": "Cup", "offers": offer });
        format!("<h1>Cup</h1><script type='application/ld+json'>{product}</script>")
    };
    let sale = json!({ "originalPrice": { "amount": 25.0, "currency": "EUR" } });
    assert_eq!(product(&html("25.00")).await["variants"][0]["sale"], sale);
    assert_eq!(product(&html("15.00")).await["variants"][0]["sale"], Value::Null);
}

#[tokio::test]
async fn sources_of_different_products_are_not_mixed() {
    let html = r#"<h1>Teapot</h1><meta property="og:title" content="Cup"><meta property="product:price:amount"
        content="5"><meta property="product:price:currency" content="EUR"><script type="application/ld+json">{
        "@type":"Product","name":"Teapot","offers":{"@type":"Offer","availability":"InStock"}}</script>"#;
    let product = product(html).await;
    assert_eq!(product["title"], "Teapot");
    assert_eq!(product["variants"][0]["price"], Value::Null);
}

#[tokio::test]
async fn broken_json_ld_is_skipped() {
    let html = r#"<script type="application/ld+json">{"@type":"Product","name":"Cup","offers":{</script>
        <div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Cup</h1><meta itemprop="price"
        content="5.00"></div>"#;
    assert_eq!(product(html).await["variants"][0]["price"]["amount"], 5.0);
}

#[tokio::test]
async fn formats_that_are_not_requested_are_absent_without_a_warning() {
    let document = scrape(ABOUT, json!(["markdown"])).await;
    for key in ["product", "menu", "warning"] {
        assert!(document.get(key).is_none(), "{document}");
    }
}

#[tokio::test]
async fn menu_with_nested_sections_has_unique_ids() {
    let document = scrape(MENU, json!(["menu"])).await;
    let menu = &document["menu"];
    assert_eq!((&menu["isMenu"], &menu["merchant"]["name"]), (&json!(true), &json!("Tea House")));
    assert!(menu["confidence"].as_f64().unwrap() >= 0.9, "{menu}");
    let sections = menu["sections"].as_array().unwrap();
    let names: Vec<&Value> = sections.iter().map(|section| &section["name"]).collect();
    assert_eq!(names, ["Green", "Black"]);
    let (green, black) = (&sections[0]["items"][0], &sections[1]["items"][0]);
    assert_eq!((&green["id"], &black["id"]), (&json!("house-tea"), &json!("house-tea-2")));
    assert_eq!(green["price"], json!({ "amount": 4.5, "currency": "EUR" }));
    assert_eq!(green["sourceUrl"], "http://shop.test/p");
    assert_eq!(black["dietary"], json!(["vegan"]));
    assert_eq!(document["metadata"]["creditsUsed"], 1);
}

#[tokio::test]
async fn page_about_something_else_has_no_menu() {
    let document = scrape(ABOUT, json!(["markdown", "menu"])).await;
    assert_none(&document, "menu", "No menu found");
    assert_eq!(document["metadata"]["creditsUsed"], 1);
    // A format that is not found costs nothing.
    let document = scrape(ABOUT, json!(["menu"])).await;
    assert_eq!(document["metadata"]["creditsUsed"], 0);
}

#[tokio::test]
async fn all_operations_return_products() {
    let home = "<title>Shop</title><main><p>A shop for tea.</p><a href='/p'>Teapot</a></main>";
    let world = TestWeb::builder()
        .page("http://shop.test/", Page::html(home))
        .page("http://shop.test/p", Page::html(PRODUCT))
        .start()
        .await;
    let service = Service::for_world(&world);
    let amount = |document: &Value| document["product"]["variants"][0]["price"]["amount"].clone();
    let options = json!({ "formats": ["markdown", "product"] });

    let batch = json!({ "urls": ["http://shop.test/p"], "formats": ["markdown", "product"] });
    let path = start_at(&service, "/v2/batch/scrape", batch).await;
    wait_for_end(&service, &path).await;
    assert_eq!(amount(&read_all(&service, &path).await.0[0]), 49.99);

    let crawl = json!({ "url": "http://shop.test/", "scrapeOptions": options });
    let path = start_at(&service, "/v2/crawl", crawl).await;
    wait_for_end(&service, &path).await;
    let documents = read_all(&service, &path).await.0;
    assert!(documents.iter().any(|document| amount(document) == 49.99), "{documents:?}");

    service.search_until_found("teapot").await;
    let search = service.search(json!({ "query": "teapot iron", "scrapeOptions": options })).await;
    let results = search.body["data"]["web"].as_array().unwrap();
    assert!(results.iter().any(|result| amount(result) == 49.99), "{}", search.body);

    let parsed = parse(&service, "p.html", PRODUCT.as_bytes(), &json!({ "formats": ["product"] })).await;
    assert_eq!(amount(&parsed.body["data"]), 49.99, "{}", parsed.body);
}

/// A script that reads both formats through the models of the SDK.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
product = app.scrape("http://shop.test/p", formats=["product"]).product
variant = product.variants[0]
print(product.title, product.brand, variant.price.amount, variant.price.currency, variant.availability.in_stock)
menu = app.scrape("http://shop.test/menu", formats=["menu"]).menu
item = menu.sections[0].items[0]
print(menu.merchant.name, menu.sections[0].name, item.name, item.price.amount, item.availability.in_stock)
print(item.images, item.dietary, item.source_url)
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_reads_products_and_menus() {
    let world = TestWeb::builder()
        .page("http://shop.test/p", Page::html(PRODUCT))
        .page("http://shop.test/menu", Page::html(MENU))
        .start()
        .await;
    let service = Service::for_world(&world);
    let expected = "Teapot Iwachu 49.99 USD True\n\
                    Tea House Green House tea 4.5 True\n\
                    [] [] http://shop.test/menu\n";
    sdk::check(SCRIPT, &service, expected);
}
