//! The stored record of a page, with which its whole document can be read back and exported.
//!
//! The record is stored before the display document, so that searches never read it, and has only the data that is not
//! in the display document. The links are compressed separately, because they are read for the anchors of other pages
//! (see [`crate::anchors`]). The rest is compressed with the beginning of the body as dictionary, since headings and
//! the texts around images mostly repeat parts of it.

use lz4_flex::block::{compress, compress_with_dict, decompress, decompress_with_dict};

use crate::bytes::{ByteReader, put, put_dimension, put_optional, put_text, put_time};
use crate::display_doc::DisplayDoc;
use crate::document::{Document, Image, Link, News};

/// Maximum bytes of the dictionary, which is the window size of LZ4.
const DICTIONARY_BYTES: usize = 64 << 10;

/// Maximum compression ratio of LZ4; a larger length is damaged.
const MAX_RATIO: usize = 255;

/// Encodes the record of `document`. `body` is the prefix of its body that the display document stores.
pub(crate) fn encode(document: &Document, body: &str) -> Vec<u8> {
    let Document {
        url: _,
        title: _,
        headings,
        body: whole_body,
        description,
        language,
        published,
        modified,
        seen,
        content_type,
        country,
        explicit,
        images,
        links,
        news,
    } = document;
    let mut rest = Vec::new();
    rest.push(u8::from(description.is_some()));
    rest.push(u8::from(*explicit));
    for time in [published, modified, seen] {
        put_time(&mut rest, *time);
    }
    for text in [language, content_type, country] {
        put_optional(&mut rest, text.as_deref());
    }
    rest.push(u8::from(news.is_some()));
    if let Some(News { image_url }) = news {
        put_optional(&mut rest, image_url.as_deref());
    }
    put(&mut rest, headings.len() as u64);
    headings.iter().for_each(|heading| put_text(&mut rest, heading));
    put(&mut rest, images.len() as u64);
    images.iter().for_each(|image| put_image(&mut rest, image));
    put_text(&mut rest, &whole_body[body.len()..]);

    let mut out = Vec::new();
    let linked = encode_links(links);
    put_packed(&mut out, linked.len(), &compress(&linked));
    put_packed(&mut out, rest.len(), &compress_with_dict(&rest, dictionary(body)));
    let len = u32::try_from(out.len()).expect("a record is smaller than its document, which is bounded");
    out.extend_from_slice(&len.to_le_bytes());
    out
}

fn encode_links(links: &[Link]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, links.len() as u64);
    for Link { url, text } in links {
        put_text(&mut out, url);
        put_text(&mut out, text);
    }
    out
}

fn put_image(out: &mut Vec<u8>, image: &Image) {
    let Image { url, alt, caption, context, width, height } = image;
    for text in [url, alt, caption, context] {
        put_text(out, text);
    }
    for dimension in [width, height] {
        put_dimension(out, *dimension);
    }
}

fn put_packed(out: &mut Vec<u8>, len: usize, packed: &[u8]) {
    put(out, len as u64);
    put(out, packed.len() as u64);
    out.extend_from_slice(packed);
}

fn dictionary(body: &str) -> &[u8] {
    &body.as_bytes()[..body.len().min(DICTIONARY_BYTES)]
}

/// Decodes the whole document of a display document; `None` if its bytes are damaged.
pub(crate) fn document(doc: &DisplayDoc<'_>) -> Option<Document> {
    let record = Record::from_doc(doc)?;
    let mut body = doc.body()?;
    let rest = record.rest.unpack(|packed, len| decompress_with_dict(packed, len, dictionary(&body)))?;
    let mut rest = ByteReader(&rest);
    let (has_description, explicit) = (rest.flag()?, rest.flag()?);
    let (published, modified, seen) = (rest.time()?, rest.time()?, rest.time()?);
    let mut optional = || Some(rest.optional()?.map(str::to_owned));
    let (language, content_type, country) = (optional()?, optional()?, optional()?);
    let news = match rest.flag()? {
        true => Some(News { image_url: rest.optional()?.map(str::to_owned) }),
        false => None,
    };
    let headings = (0..rest.count()?).map(|_| rest.text().map(str::to_owned)).collect::<Option<_>>()?;
    let images = (0..rest.count()?).map(|_| image(&mut rest)).collect::<Option<_>>()?;
    body.push_str(rest.text()?);
    Some(Document {
        url: doc.header.url.to_owned(),
        title: doc.header.title.to_owned(),
        headings,
        body,
        description: has_description.then(|| doc.header.description.to_owned()),
        language,
        published,
        modified,
        seen,
        content_type,
        country,
        explicit,
        images,
        links: record.links()?,
        news,
    })
}

fn image(rest: &mut ByteReader<'_>) -> Option<Image> {
    let mut text = || rest.text().map(str::to_owned);
    let (url, alt, caption, context) = (text()?, text()?, text()?, text()?);
    Some(Image { url, alt, caption, context, width: rest.dimension()?, height: rest.dimension()? })
}

/// Decodes only the links of a page; none if the bytes are damaged.
pub(crate) fn links(doc: &DisplayDoc<'_>) -> Links {
    let unpacked = Record::from_doc(doc).and_then(|record| record.links.unpack(decompress));
    Links(unpacked.unwrap_or_default())
}

/// The links of a page in their stored encoding, decompressed.
#[derive(Default)]
pub(crate) struct Links(Vec<u8>);

impl Links {
    #[cfg(test)]
    pub(crate) fn from_links(links: &[Link]) -> Self {
        Self(encode_links(links))
    }

    /// Returns URLs and texts, in page order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut links = ByteReader(&self.0);
        let count = links.count().unwrap_or_default();
        (0..count).map_while(move |_| Some((links.text()?, links.text()?)))
    }
}

/// A record whose parts are still compressed.
struct Record<'a> {
    links: PackedBlob<'a>,
    rest: PackedBlob<'a>,
}

impl<'a> Record<'a> {
    fn from_doc(doc: &DisplayDoc<'a>) -> Option<Self> {
        let (stored, len) = doc.before().split_last_chunk()?;
        let start = stored.len().checked_sub(u32::from_le_bytes(*len) as usize)?;
        let mut parts = ByteReader(&stored[start..]);
        Some(Self { links: PackedBlob::take(&mut parts)?, rest: PackedBlob::take(&mut parts)? })
    }

    fn links(&self) -> Option<Vec<Link>> {
        let links = self.links.unpack(decompress)?;
        let mut links = ByteReader(&links);
        let count = links.count()?;
        (0..count)
            .map(|_| Some(Link { url: links.text()?.to_owned(), text: links.text()?.to_owned() }))
            .collect()
    }
}

/// Compressed bytes with their decompressed length.
struct PackedBlob<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> PackedBlob<'a> {
    fn take(from: &mut ByteReader<'a>) -> Option<Self> {
        let len = usize::try_from(from.number()?).ok()?;
        let count = from.count()?;
        Some(Self { bytes: from.slice(count)?, len })
    }

    fn unpack<E>(&self, decompress: impl FnOnce(&[u8], usize) -> Result<Vec<u8>, E>) -> Option<Vec<u8>> {
        if self.len > (self.bytes.len() + 1).saturating_mul(MAX_RATIO) {
            return None;
        }
        decompress(self.bytes, self.len).ok()
    }
}
