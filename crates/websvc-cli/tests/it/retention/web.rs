//! A web and a search engine whose every part has a mark.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, FakeSearxng, Page, TestWeb, TestWebBuilder};

use super::mark::Mark;

const ENGINE: &str = "http://searx.test/search";

/// URL of the trace collector.
pub(super) const COLLECTOR: &str = "http://collector.test";
/// The server that scraped pages are written to, too.
pub(super) const MIRROR: &str = "http://es.test";

/// Web site whose content is tagged with the mark.
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
    pub(super) fn of(mark: &Mark) -> Self {
        let host = mark.host("host");
        let path = mark.named("path");
        let on = |name: &str| format!("http://{host}/{}", mark.named(name));
        Self {
            article: format!("http://{host}/{path}?{}=1", mark.named("parameter")),
            moved: on("moved"),
            pdf: format!("{}.pdf", on("pdf")),
            secure: format!("https://{}/{path}", mark.host("secure")),
            gone: on("gone"),
            silent: on("silent"),
            // Not led to the loopback web, so that the guard decides.
            refused: format!("http://127.0.0.1:1/{path}"),
            blocked: format!("http://{}/{path}", mark.host("blocked")),
            unresolved: format!("http://{}:81/{path}", mark.host("unresolved")),
        }
    }

    pub(super) fn all(&self) -> [&str; 9] {
        let Self { article, moved, pdf, secure, gone, silent, refused, blocked, unresolved } = self;
        [article, moved, pdf, secure, gone, silent, refused, blocked, unresolved]
    }

    /// Starts the web, a search engine that finds all of it, and one that tells what it was asked and fails.
    pub(super) async fn start(&self, mark: &Mark, mirror: &FakeElasticsearch) -> TestWeb {
        let result = |url: &str| json!({ "url": url, "title": mark.named("result"), "content": mark.named("snippet"), "engine": "x" });
        let general: Vec<Value> = self.all().into_iter().map(result).collect();
        let picture = json!({ "url": self.article, "title": mark.named("picture"), "engine": "x",
            "img_src": format!("http://{}/{}.png", mark.host("pictures"), mark.named("picture")), "resolution": "640x480" });
        let news = json!({ "url": self.gone, "title": mark.named("news"), "content": "News", "engine": "x" });
        let engine = FakeSearxng::new()
            .results("general", general)
            .results("images", vec![picture])
            .results("news", vec![news]);
        let failing = mark.named("failing");
        let world = TestWeb::builder().page_with(ENGINE, move |seen| {
            let refusal = json!({ "error": format!("cannot be searched: {}", seen.url) }).to_string();
            match seen.url.contains(&failing) {
                true => Page::new("application/json", refusal).status(500),
                false => engine.respond(seen),
            }
        });
        let moved_to = format!("http://{}/{}", mark.host("landing"), mark.named("landing"));
        let world = world.page(&format!("{COLLECTOR}/v1/traces"), Page::new("application/json", "{}"));
        let world = mirror.serve(self.pages(world, mark), MIRROR);
        world.page(&self.moved, Page::redirect(302, &moved_to)).page(&moved_to, article(mark)).start().await
    }

    fn pages(&self, world: TestWebBuilder, mark: &Mark) -> TestWebBuilder {
        world
            .page(&self.article, article(mark))
            .page(&self.secure, article(mark))
            .page(&self.blocked, article(mark))
            .page(&self.pdf, Page::new("application/pdf", pdf(&mark.named("pdf"))))
            .page(&self.gone, Page::html(format!("<title>{}</title>", mark.named("gone"))).status(404))
            .page(&self.silent, Page::html(mark.named("late")).delay(Duration::from_secs(600)))
    }
}

fn article(mark: &Mark) -> Page {
    let named = |name: &str| mark.named(name);
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
        mark.host("linked"),
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

/// Returns a PDF of one page with this text. It has no table of its objects: readers find them.
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
