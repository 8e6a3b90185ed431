//! A web and a search engine whose every part contains the marker.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, FakeSearxng, Page, TestWeb, TestWebBuilder};

use super::marker::Marker;

const ENGINE: &str = "http://searx.test/search";

/// URL of the trace collector.
pub(super) const COLLECTOR: &str = "http://collector.test";
/// URL of the Elasticsearch mirror.
pub(super) const MIRROR: &str = "http://es.test";

/// The URLs of a web whose content contains the marker.
pub(super) struct Web {
    pub(super) article: String,
    pub(super) moved: String,
    pub(super) pdf: String,
    pub(super) secure: String,
    pub(super) gone: String,
    pub(super) silent: String,
    pub(super) refused: String,
    pub(super) blocked: String,
    pub(super) unresolved: String,
}

impl Web {
    pub(super) fn new(marker: &Marker) -> Self {
        let host = marker.host("host");
        let path = marker.named("path");
        let url = |name: &str| format!("http://{host}/{}", marker.named(name));
        Self {
            article: format!("http://{host}/{path}?{}=1", marker.named("parameter")),
            moved: url("moved"),
            pdf: format!("{}.pdf", url("pdf")),
            secure: format!("https://{}/{path}", marker.host("secure")),
            gone: url("gone"),
            silent: url("silent"),
            // This address is not mapped to the test web, so the address guard refuses it.
            refused: format!("http://127.0.0.1:1/{path}"),
            blocked: format!("http://{}/{path}", marker.host("blocked")),
            unresolved: format!("http://{}:81/{path}", marker.host("unresolved")),
        }
    }

    pub(super) fn all(&self) -> [&str; 9] {
        let Self { article, moved, pdf, secure, gone, silent, refused, blocked, unresolved } = self;
        [article, moved, pdf, secure, gone, silent, refused, blocked, unresolved]
    }

    /// Starts the web, and a search engine that finds all of it. For the query "failing", the engine fails and repeats
    /// the request URL in its response.
    pub(super) async fn start(&self, marker: &Marker, mirror: &FakeElasticsearch) -> TestWeb {
        let result = |url: &str| json!({ "url": url, "title": marker.named("result"), "content": marker.named("snippet"), "engine": "x" });
        let general: Vec<Value> = self.all().into_iter().map(result).collect();
        let image = json!({ "url": self.article, "title": marker.named("image"), "engine": "x",
            "img_src": format!("http://{}/{}.png", marker.host("images"), marker.named("image")), "resolution": "640x480" });
        let news =
            json!({ "url": self.gone, "title": marker.named("news"), "content": "News", "engine": "x" });
        let engine = FakeSearxng::new()
            .results("general", general)
            .results("images", vec![image])
            .results("news", vec![news]);
        let failing = marker.named("failing");
        let world = TestWeb::builder().page_with(ENGINE, move |request| {
            let error = json!({ "error": format!("cannot be searched: {}", request.url) }).to_string();
            match request.url.contains(&failing) {
                true => Page::new("application/json", error).status(500),
                false => engine.respond(request),
            }
        });
        let moved_to = format!("http://{}/{}", marker.host("landing"), marker.named("landing"));
        let world = world.page(&format!("{COLLECTOR}/v1/traces"), Page::new("application/json", "{}"));
        let world = mirror.serve(self.pages(world, marker), MIRROR);
        world.page(&self.moved, Page::redirect(302, &moved_to)).page(&moved_to, article(marker)).start().await
    }

    fn pages(&self, world: TestWebBuilder, marker: &Marker) -> TestWebBuilder {
        world
            .page(&self.article, article(marker))
            .page(&self.secure, article(marker))
            .page(&self.blocked, article(marker))
            .page(&self.pdf, Page::new("application/pdf", pdf(&marker.named("pdf"))))
            .page(&self.gone, Page::html(format!("<title>{}</title>", marker.named("gone"))).status(404))
            .page(&self.silent, Page::html(marker.named("late")).delay(Duration::from_secs(600)))
    }
}

fn article(marker: &Marker) -> Page {
    let named = |name: &str| marker.named(name);
    let prose = "Water of eighty degrees and two minutes of patience make a good cup. ".repeat(20);
    let html = format!(
        "<!doctype html><html lang=en><title>{} tea</title><meta name=description content='{}'>\
         <!-- {} --><main><h1>{}</h1><p>{prose}</p><p>{} {prose}</p><a href='http://{}/{}'>{}</a>\
         <img src='/{}.png' alt='{}' width=640 height=480><input type=hidden value='{}'></main></html>",
        named("title"),
        named("description"),
        named("comment"),
        named("heading"),
        named("body"),
        marker.host("linked"),
        named("linked"),
        named("anchor"),
        named("image"),
        named("alt"),
        named("field"),
    );
    Page::html(html)
        .header("etag", &format!("\"{}\"", named("etag")))
        .header("set-cookie", &format!("seen={}; Path=/", named("cookie")))
        .header("x-about", &named("header"))
}

/// Returns a PDF of one page with a text. It has no cross-reference table, so readers must search for the objects.
fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 50 700 Td ({text} is what this paper is about.) Tj ET");
    format!(
        "%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
         2 0 obj << /Type /Pages /Kids [10 0 R] /Count 1 >> endobj\n\
         3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n\
         4 0 obj << /Title ({text}) >> endobj\n\
         10 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 11 0 R \
         /Resources << /Font << /F1 3 0 R >> >> >> endobj\n\
         11 0 obj << /Length {} >>\nstream\n{content}\nendstream endobj\n\
         trailer << /Root 1 0 R /Info 4 0 R >>\n%%EOF",
        content.len()
    )
    .into_bytes()
}
