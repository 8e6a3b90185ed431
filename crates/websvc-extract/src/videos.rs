//! The videos that a page contains, for the format `video` (operations.md, section 9): elements, structured data, meta tags
//! and known players.

use crate::document::Document;
use crate::dom::{Dom, NodeId, Tag};
use crate::embed;
use crate::links::{is_web, resolve, without_fragment};
use crate::structured::{Entity, StructuredData, plain_text};
use crate::text::{collapsed, shorten};
use url::Url;
use websvc_types::limits::{
    VIDEO_DESCRIPTION_MAX_CHARS, VIDEO_TITLE_MAX_CHARS, VIDEO_URL_MAX_BYTES, VIDEOS_MAX,
};
use websvc_types::video::PageVideo;

/// Extensions of streams, whose URL is a list of segments.
const STREAMS: [&str; 2] = [".m3u8", ".mpd"];
/// Extensions of files.
const FILES: [&str; 8] = [".mp4", ".m4v", ".webm", ".ogv", ".ogg", ".mov", ".mkv", ".mp3"];
/// Media types of streams.
const STREAM_TYPES: [&str; 3] =
    ["application/vnd.apple.mpegurl", "application/x-mpegurl", "application/dash+xml"];

/// Providers by the domain of their players and pages.
const PROVIDERS: [(&str, &str); 10] = [
    ("youtube.com", "youtube"),
    ("youtube-nocookie.com", "youtube"),
    ("youtu.be", "youtube"),
    ("vimeo.com", "vimeo"),
    ("dailymotion.com", "dailymotion"),
    ("bilibili.com", "bilibili"),
    ("twitch.tv", "twitch"),
    ("wistia.com", "wistia"),
    ("wistia.net", "wistia"),
    ("loom.com", "loom"),
];

/// Maximum number of inner `source` elements that are read of a video.
const MAX_SOURCES: usize = 20;
/// Maximum length of a short text, such as a duration or a media type, in bytes.
const MAX_SHORT_BYTES: usize = 100;
/// Maximum of a width or height. Larger values are mistakes.
const MAX_PIXELS: u32 = 16_384;

/// Returns the videos of a page in the order of its elements, then of its structured data, each URL once.
pub(crate) fn read(document: &Document) -> Vec<PageVideo> {
    if !document.kind.is_html() {
        return Vec::new();
    }
    let mut videos = Videos { document, list: Vec::new() };
    let dom = &document.dom;
    for id in dom.descendants(NodeId::ROOT) {
        match dom.tag(id) {
            Some(Tag::Video) => videos.add_element(dom, id),
            Some(Tag::Iframe) => videos.add_player(dom, id),
            _ => {}
        }
    }
    let data = document.structured_data();
    for graph in [&data.json_ld, &data.microdata, &data.rdfa] {
        for entity in graph.entities().filter(|entity| entity.is(&["VideoObject"])) {
            videos.add_entity(entity);
        }
    }
    videos.add_meta(data);
    videos.list
}

struct Videos<'a> {
    document: &'a Document,
    list: Vec<PageVideo>,
}

impl Videos<'_> {
    fn url(&self, text: &str) -> Option<Url> {
        let text = text.trim();
        if text.is_empty() || text.len() > VIDEO_URL_MAX_BYTES {
            return None;
        }
        let url = without_fragment(resolve(&self.document.base, text)?);
        let is_page = is_web(&url) && url.has_host();
        let is_public = url.username().is_empty() && url.password().is_none();
        (is_page && is_public && url.as_str().len() <= VIDEO_URL_MAX_BYTES).then_some(url)
    }

    fn image(&self, text: Option<&str>) -> Option<String> {
        self.url(text?).map(String::from)
    }

    /// Adds a video, or what it adds to one with the same URL.
    fn add(&mut self, url: &Url, source: &str, mut video: PageVideo) {
        video.url = url.as_str().to_owned();
        video.source_url = self.document.url.as_str().to_owned();
        source.clone_into(&mut video.source);
        video.provider = provider(url).map(str::to_owned);
        video.kind = kind(url, video.mime_type.as_deref()).map(str::to_owned);
        if let Some(known) = self.list.iter_mut().find(|known| known.url == video.url) {
            complete(known, video);
        } else if self.list.len() < VIDEOS_MAX {
            self.list.push(video);
        }
    }

    fn add_element(&mut self, dom: &Dom, id: NodeId) {
        let own = dom.attribute(id, "src").map(|src| (src, dom.attribute(id, "type")));
        let sources = dom.children(id).take(MAX_SOURCES).filter(|&child| dom.is(child, Tag::Source));
        let inner = sources
            .filter_map(|child| dom.attribute(child, "src").map(|src| (src, dom.attribute(child, "type"))));
        let found = own.into_iter().chain(inner).find_map(|(src, mime)| Some((self.url(src)?, mime)));
        let Some((url, mime)) = found else { return };
        let video = PageVideo {
            thumbnail: self.image(dom.attribute(id, "poster")),
            mime_type: mime.and_then(short),
            ..of_element(dom, id, &["title", "aria-label"])
        };
        self.add(&url, "video", video);
    }

    fn add_player(&mut self, dom: &Dom, id: NodeId) {
        let Some(url) = embed::address(dom, id).and_then(|address| self.url(&address)) else { return };
        self.add(&url, "iframe", of_element(dom, id, &["title"]));
    }

    fn add_entity(&mut self, entity: Entity<'_>) {
        let url = ["contentUrl", "contentURL", "embedUrl", "embedURL", "url"]
            .iter()
            .find_map(|name| entity.text(name).and_then(|text| self.url(text)));
        let Some(url) = url else { return };
        let image = |name| {
            let entity_url =
                || entity.entities(name).find_map(|image| image.text("url").or(image.text("contentUrl")));
            self.image(entity.text(name).or_else(entity_url))
        };
        let video = PageVideo {
            title: entity.text("name").and_then(|name| text(name, VIDEO_TITLE_MAX_CHARS)),
            thumbnail: image("thumbnailUrl").or_else(|| image("thumbnail")).or_else(|| image("image")),
            description: entity
                .text("description")
                .and_then(|source| text(source, VIDEO_DESCRIPTION_MAX_CHARS)),
            duration: entity.text("duration").and_then(short),
            mime_type: entity.text("encodingFormat").and_then(short),
            width: entity.label("width").and_then(pixels),
            height: entity.label("height").and_then(pixels),
            ..PageVideo::default()
        };
        self.add(&url, "structured-data", video);
    }

    fn add_meta(&mut self, data: &StructuredData) {
        let names = ["og:video:secure_url", "og:video:url", "og:video"];
        let Some(url) = names.iter().find_map(|name| data.meta(&[name]).and_then(|text| self.url(text)))
        else {
            return;
        };
        let video = PageVideo {
            title: data.meta(&["og:title"]).and_then(|title| text(title, VIDEO_TITLE_MAX_CHARS)),
            thumbnail: self.image(data.meta(&["og:image:secure_url", "og:image"])),
            description: data
                .meta(&["og:description"])
                .and_then(|description| text(description, VIDEO_DESCRIPTION_MAX_CHARS)),
            duration: data.meta(&["og:video:duration", "video:duration"]).and_then(short),
            mime_type: data.meta(&["og:video:type"]).and_then(short),
            width: data.meta(&["og:video:width"]).and_then(pixels),
            height: data.meta(&["og:video:height"]).and_then(pixels),
            ..PageVideo::default()
        };
        self.add(&url, "og:video", video);
    }
}

/// Returns what the attributes of an element say about its video.
fn of_element(dom: &Dom, id: NodeId, titles: &[&str]) -> PageVideo {
    PageVideo {
        title: dom.first_attribute(id, titles).and_then(|title| text(title, VIDEO_TITLE_MAX_CHARS)),
        width: dom.attribute(id, "width").and_then(pixels),
        height: dom.attribute(id, "height").and_then(pixels),
        ..PageVideo::default()
    }
}

/// Adds to a video what another record of it has.
fn complete(known: &mut PageVideo, other: PageVideo) {
    let PageVideo {
        url: _,
        source_url: _,
        source: _,
        kind,
        provider: _,
        title,
        thumbnail,
        description,
        duration,
        mime_type,
        width,
        height,
    } = other;
    known.kind = known.kind.take().or(kind);
    known.title = known.title.take().or(title);
    known.thumbnail = known.thumbnail.take().or(thumbnail);
    known.description = known.description.take().or(description);
    known.duration = known.duration.take().or(duration);
    known.mime_type = known.mime_type.take().or(mime_type);
    known.width = known.width.or(width);
    known.height = known.height.or(height);
}

fn provider(url: &Url) -> Option<&'static str> {
    let host = url.host_str()?;
    let is_of =
        |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PROVIDERS.iter().find(|(domain, _)| is_of(domain)).map(|(_, provider)| *provider)
}

/// Returns the kind of a URL by its media type, its extension and its host.
fn kind(url: &Url, mime_type: Option<&str>) -> Option<&'static str> {
    let path = url.path().to_ascii_lowercase();
    let mime = mime_type.unwrap_or_default().to_ascii_lowercase();
    let mime = mime.split(';').next().unwrap_or_default().trim();
    let has_extension = |extensions: &[&str]| extensions.iter().any(|extension| path.ends_with(extension));
    if STREAM_TYPES.contains(&mime) || has_extension(&STREAMS) {
        Some("stream")
    } else if has_extension(&FILES) || mime.starts_with("video/") || mime.starts_with("audio/") {
        Some("file")
    } else {
        (provider(url).is_some() || mime == "text/html").then_some("player")
    }
}

/// Returns a plain text of at most `max_chars`; `None` if it is empty.
fn text(source: &str, max_chars: usize) -> Option<String> {
    let plain = collapsed(&plain_text(source));
    let text: String = plain.trim().chars().take(max_chars).collect();
    (!text.is_empty()).then_some(text)
}

fn short(source: &str) -> Option<String> {
    let mut text = source.trim().to_owned();
    shorten(&mut text, MAX_SHORT_BYTES);
    (!text.is_empty()).then_some(text)
}

/// Returns a number of pixels, with or without its unit.
fn pixels(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = text[digits..].trim();
    let value: u32 = text[..digits].parse().ok()?;
    ((unit.is_empty() || unit.eq_ignore_ascii_case("px")) && (1..=MAX_PIXELS).contains(&value))
        .then_some(value)
}
