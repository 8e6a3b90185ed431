//! Tests of image and news results, and of filters and ranking by options.

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::Service;

/// Starts a service whose index contains a page with images, two news articles, an explicit page and two shops.
async fn indexed() -> Service {
    let service = Service::for_world(&TestWeb::builder().start().await);
    let documents = json!({"documents": [
        {
            "url": "https://sky.test/comet",
            "title": "The comet of the year",
            "body": "A comet is a body of ice and dust.",
            "images": [
                {"url": "https://img.test/tail.jpg", "alt": "Tail of the comet", "width": 1600, "height": 900},
                {"url": "https://img.test/path.png", "caption": "Path of the comet"},
                {"url": "https://img.test/pixel.gif", "alt": "comet", "width": 1, "height": 1}
            ]
        },
        {
            "url": "https://daily.test/comet",
            "title": "Comet seen",
            "body": "The comet was seen over Lisbon on Monday by thousands of people.",
            "published": "2025-03-04T05:06:07Z",
            "news": {"imageUrl": "https://img.test/seen.jpg"}
        },
        {
            "url": "https://weekly.test/comet",
            "title": "Comet gone",
            "body": "The comet is gone.",
            "published": "2025-02-01",
            "news": {}
        },
        {"url": "https://adult.test/", "title": "Comet", "body": "A comet of its own kind.", "explicit": true},
        {"url": "https://shop.fr/", "title": "Telescope shop", "body": "Telescopes."},
        {"url": "https://shop.de/", "title": "Telescope shop", "body": "Telescopes."}
    ]});
    let response = service.post("/v2/index/documents", documents.to_string()).await;
    assert_eq!(response.body["accepted"], json!(6), "{}", response.body);
    service.search_until_found("telescope").await;
    service
}

fn urls(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_source_has_its_own_result_shape() {
    let service = indexed().await;
    let request =
        json!({"query": "comet -kind", "sources": ["web", "images", {"type": "news", "tbs": "sbd:1"}]});
    let response = service.search(request).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let data = &response.body["data"];
    assert_eq!(data["web"].as_array().unwrap().len(), 3, "{data}");
    let images = json!([
        {
            "title": "Tail of the comet",
            "imageUrl": "https://img.test/tail.jpg",
            "imageWidth": 1600,
            "imageHeight": 900,
            "url": "https://sky.test/comet",
            "position": 1
        },
        {
            "title": "Path of the comet",
            "imageUrl": "https://img.test/path.png",
            "url": "https://sky.test/comet",
            "position": 2
        }
    ]);
    let mut found = data["images"].as_array().unwrap().clone();
    let positions: Vec<_> = found.iter_mut().map(|image| image["position"].take()).collect();
    assert_eq!(positions, [json!(1), json!(2)]);
    found.sort_by_key(|image| std::cmp::Reverse(image["imageUrl"].to_string()));
    for (image, position) in found.iter_mut().zip(positions) {
        image["position"] = position;
    }
    assert_eq!(json!(found), images);
    assert_eq!(
        data["news"],
        json!([
            {
                "title": "Comet seen",
                "snippet": "The comet was seen over Lisbon on Monday by thousands of people.",
                "url": "https://daily.test/comet",
                "date": "2025-03-04T05:06:07Z",
                "imageUrl": "https://img.test/seen.jpg",
                "position": 1
            },
            {
                "title": "Comet gone",
                "snippet": "The comet is gone.",
                "url": "https://weekly.test/comet",
                "date": "2025-02-01T00:00:00Z",
                "position": 2
            }
        ])
    );
    assert_eq!(response.body.get("warning"), None);
    assert_eq!(response.body["creditsUsed"], json!(2), "seven results cost two credits");
}

#[tokio::test]
async fn limit_applies_per_source() {
    let service = indexed().await;
    let request = json!({"query": "comet", "limit": 1, "sources": ["web", "images", "news"]});
    let data = &service.search(request).await.body["data"];
    for source in ["web", "images", "news"] {
        assert_eq!(data[source].as_array().unwrap().len(), 1, "{source}: {data}");
    }
}

#[tokio::test]
async fn image_sizes_and_source_time_filter_results() {
    let service = indexed().await;
    let search = async |request: Value| service.search(request).await.body["data"].clone();
    let data = search(json!({"query": "comet larger:1000x800", "sources": ["images"]})).await;
    assert_eq!(data["images"][0]["imageUrl"], json!("https://img.test/tail.jpg"));
    assert_eq!(data["images"].as_array().unwrap().len(), 1);
    let data = search(json!({"query": "imagesize:1600x901", "sources": ["images"]})).await;
    assert_eq!(data, json!({"images": []}));
    let february = "cdr:1,cd_min:02/01/2025,cd_max:02/28/2025";
    let sources = json!(["web", {"type": "news", "tbs": february}]);
    let data = search(json!({"query": "comet", "sources": sources})).await;
    assert_eq!(urls(&data["news"]), ["https://weekly.test/comet"]);
    assert_eq!(data["web"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn safe_search_omits_explicit_pages() {
    let service = indexed().await;
    let response = service.search(json!({"query": "comet kind"})).await;
    assert!(urls(&response.body["data"]["web"]).contains(&"https://adult.test/"));
    let response = service.search(json!({"query": "comet kind", "safe": true})).await;
    assert_eq!(response.body.get("warning"), None);
    let found = urls(&response.body["data"]["web"]);
    assert!(!found.is_empty() && !found.contains(&"https://adult.test/"), "{found:?}");
}

#[tokio::test]
async fn location_ranks_local_pages_first() {
    let service = indexed().await;
    let first = async |location: Value| {
        let mut request = json!({"query": "telescope shop"});
        request.as_object_mut().unwrap().extend(location.as_object().unwrap().clone());
        let response = service.search(request).await;
        let found = urls(&response.body["data"]["web"]);
        assert_eq!(found.len(), 2, "the location must not filter results");
        (found[0].to_owned(), response.body["warning"].as_str().map(str::to_owned))
    };
    for (location, url) in [
        (json!({"country": "FR"}), "https://shop.fr/"),
        (json!({"country": "de"}), "https://shop.de/"),
        (json!({"location": "Paris,Ile-de-France,France"}), "https://shop.fr/"),
        (json!({"location": "Germany", "country": "US"}), "https://shop.de/"),
        (json!({"sources": [{"type": "web", "location": "France"}], "country": "DE"}), "https://shop.fr/"),
    ] {
        assert_eq!(first(location.clone()).await, (url.to_owned(), None), "{location}");
    }
    let (_, warning) = first(json!({"location": "Atlantis"})).await;
    assert!(warning.unwrap().contains("Atlantis"));
}
