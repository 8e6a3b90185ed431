//! PDF files of plain text.

use std::fmt::Write as _;

/// Lines on a page.
const LINES: usize = 40;

/// Returns a PDF with these lines, 40 on each page. Lines that begin with `#` are headings. The file has no
/// cross-reference table, so readers search for the objects.
pub(super) fn pdf(title: &str, lines: &[String]) -> Vec<u8> {
    let pages: Vec<String> = lines.chunks(LINES).map(content).collect();
    let kids: Vec<String> = (0..pages.len()).map(|index| format!("{} 0 R", 10 + 2 * index)).collect();
    let mut file = format!(
        "%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /Kids [{}] /Count {} >> endobj\n\
         3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n\
         4 0 obj << /Title ({}) >> endobj\n",
        kids.join(" "),
        pages.len(),
        escape(title)
    );
    for (index, content) in pages.iter().enumerate() {
        let number = 10 + 2 * index;
        // Writing to a string does not fail.
        let _ = write!(
            file,
            "{number} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 700 900] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >> endobj\n{} 0 obj << /Length {} >>\nstream\n{content}\nendstream endobj\n",
            number + 1,
            number + 1,
            content.len()
        );
    }
    file.push_str("trailer << /Root 1 0 R /Info 4 0 R >>\n%%EOF");
    file.into_bytes()
}

/// Returns the content stream of a page.
fn content(lines: &[String]) -> String {
    let mut y = 860;
    let mut content = String::new();
    for line in lines {
        let (size, text) = line.strip_prefix('#').map_or((10, line.as_str()), |heading| (16, heading));
        content.push_str(&format!("BT /F1 {size} Tf 40 {y} Td ({}) Tj ET\n", escape(text)));
        y -= 20;
    }
    content
}

/// Returns text as a PDF string. Characters outside ASCII are left out: the font encodes one byte for each.
fn escape(text: &str) -> String {
    let ascii = text.chars().filter(char::is_ascii);
    ascii.flat_map(|c| if "()\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}
