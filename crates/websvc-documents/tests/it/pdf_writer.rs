//! Writes small PDF files for tests: pages of positioned text in three of the standard fonts.

use std::fmt::Write;

use websvc_documents::{DocumentKind, Limits, ParsedDocument, parse};

/// The fonts, by their names in the page resources.
pub(crate) const REGULAR: &str = "F1";
pub(crate) const BOLD: &str = "F2";
pub(crate) const MONO: &str = "F3";

/// The width and height of a page in points.
pub(crate) const PAGE: (f64, f64) = (600.0, 800.0);

/// A page under construction.
#[derive(Debug, Default, Clone)]
pub(crate) struct Page {
    pub(crate) content: String,
    annotations: Vec<String>,
}

impl Page {
    /// Places text; `y` is measured from the top.
    pub(crate) fn text(mut self, font: &str, size: f64, x: f64, y: f64, text: &str) -> Self {
        let y = PAGE.1 - y;
        let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        writeln!(self.content, "BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET").unwrap();
        self
    }

    /// Places lines of regular text below each other.
    pub(crate) fn lines(mut self, x: f64, y: f64, lines: &[&str]) -> Self {
        for (index, line) in lines.iter().enumerate() {
            self = self.text(REGULAR, 10.0, x, y + 12.0 * index as f64, line);
        }
        self
    }

    /// Draws a straight line.
    pub(crate) fn rule(mut self, x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        let (y0, y1) = (PAGE.1 - y0, PAGE.1 - y1);
        writeln!(self.content, "0.5 w {x0} {y0} m {x1} {y1} l S").unwrap();
        self
    }

    /// Adds a link annotation.
    pub(crate) fn link(mut self, x0: f64, y0: f64, x1: f64, y1: f64, url: &str) -> Self {
        let (top, bottom) = (PAGE.1 - y0, PAGE.1 - y1);
        self.annotations.push(format!(
            "<< /Type /Annot /Subtype /Link /Rect [{x0} {bottom} {x1} {top}] /A << /S /URI /URI ({url}) >> >>"
        ));
        self
    }

    /// Adds annotations unchanged.
    pub(crate) fn annotations(mut self, annotations: &str) -> Self {
        self.annotations.push(annotations.to_owned());
        self
    }

    /// Appends content stream instructions unchanged.
    pub(crate) fn raw(mut self, instructions: &str) -> Self {
        self.content.push_str(instructions);
        self.content.push('\n');
        self
    }
}

/// Returns a PDF file with these pages.
pub(crate) fn pdf(pages: &[Page]) -> Vec<u8> {
    pdf_with(pages, "", &[], "")
}

/// Returns a PDF file with additional resource entries, objects (numbered from 10) and trailer entries.
pub(crate) fn pdf_with(pages: &[Page], resources: &str, objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    pdf_with_catalog(pages, resources, objects, trailer, "")
}

/// The same as [`pdf_with`], with additional entries in the catalog.
pub(crate) fn pdf_with_catalog(
    pages: &[Page],
    resources: &str,
    objects: &[Vec<u8>],
    trailer: &str,
    catalog: &str,
) -> Vec<u8> {
    let first_page = 10 + objects.len();
    let kids: Vec<String> = (0..pages.len()).map(|index| format!("{} 0 R", first_page + 2 * index)).collect();
    let mut file = Writer::default();
    file.object(1, format!("<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) {catalog} >>").as_bytes());
    file.object(
        2,
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).as_bytes(),
    );
    for (number, name) in [(3, "Helvetica"), (4, "Helvetica-Bold"), (5, "Courier")] {
        let font = format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
        file.object(number, font.as_bytes());
    }
    file.object(6, b"<< /Title (A test) /Author (Ada) /CreationDate (D:20240203040506Z) >>");
    for (index, object) in objects.iter().enumerate() {
        file.object(10 + index, object);
    }
    for (index, page) in pages.iter().enumerate() {
        let number = first_page + 2 * index;
        let annotations = page.annotations.join(" ");
        let dict = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents {} 0 R /Annots [{annotations}] \
             /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> {resources} >> >>",
            PAGE.0,
            PAGE.1,
            number + 1
        );
        file.object(number, dict.as_bytes());
        file.object(number + 1, &stream("", page.content.as_bytes()));
    }
    file.finish(trailer)
}

/// Returns a stream object with additional entries in its dictionary.
pub(crate) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {} {entries} >>\nstream\n", data.len()).into_bytes();
    object.extend_from_slice(data);
    object.extend_from_slice(b"\nendstream");
    object
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    offsets: Vec<(usize, usize)>,
}

impl Writer {
    fn object(&mut self, number: usize, body: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(b"%PDF-1.7\n");
        }
        self.offsets.push((number, self.bytes.len()));
        self.bytes.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    fn finish(mut self, trailer: &str) -> Vec<u8> {
        let start = self.bytes.len();
        let size = self.offsets.iter().map(|(number, _)| number + 1).max().unwrap_or(1);
        let mut table = format!("xref\n0 {size}\n");
        for number in 0..size {
            match self.offsets.iter().find(|(written, _)| *written == number) {
                Some((_, offset)) => writeln!(table, "{offset:010} 00000 n ").unwrap(),
                None => writeln!(table, "0000000000 65535 f ").unwrap(),
            }
        }
        writeln!(table, "trailer\n<< /Size {size} /Root 1 0 R /Info 6 0 R {trailer} >>").unwrap();
        writeln!(table, "startxref\n{start}\n%%EOF").unwrap();
        self.bytes.extend_from_slice(table.as_bytes());
        self.bytes
    }
}

/// Reads a file with the default limits.
pub(crate) fn read_file(bytes: Vec<u8>) -> ParsedDocument {
    parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap()
}

/// Reads a file of pages.
pub(crate) fn read(pages: &[Page]) -> ParsedDocument {
    read_file(pdf(pages))
}

/// Returns the HTML of a file with one page.
pub(crate) fn html(page: Page) -> String {
    read(&[page]).html
}
