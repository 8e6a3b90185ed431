//! Writes office files and EPUB books for tests: ZIP archives of a few parts.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// Returns a ZIP archive of parts, each with a name and content.
pub(crate) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in parts {
        let method = if *name == "mimetype" { CompressionMethod::STORE } else { CompressionMethod::DEFLATE };
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        if method == CompressionMethod::STORE {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        } else {
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
    }
    archive.finish().unwrap();
    bytes
}

/// Returns a Word document with this body XML.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document = format!("<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body>{body}</w:body></w:document>");
    package(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        (
            "word/styles.xml",
            b"<w:styles><w:style w:styleId=\"H2\"><w:name w:val=\"heading 2\"/></w:style></w:styles>",
        ),
        (
            "word/numbering.xml",
            b"<w:numbering><w:abstractNum w:abstractNumId=\"7\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/></w:lvl>\
              <w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
              <w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num></w:numbering>",
        ),
        (
            "word/_rels/document.xml.rels",
            b"<Relationships><Relationship Id=\"rId1\" Target=\"https://tea.test/\" TargetMode=\"External\"/></Relationships>",
        ),
        (
            "word/footnotes.xml",
            b"<w:footnotes><w:footnote w:id=\"2\"><w:p><w:r><w:t>Or longer.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
        (
            "docProps/core.xml",
            b"<cp:coreProperties><dc:title>Tea</dc:title><dc:creator>Ada</dc:creator>\
              <dcterms:created>2024-01-02T03:04:05Z</dcterms:created></cp:coreProperties>",
        ),
    ])
}
