//! Properties of the readers of documents for any file.

use websvc_documents::{DocumentKind, Limits, parse, recognized_html};

/// The maximum size of the output of a reader.
const MAX_OUTPUT_BYTES: usize = 20_000;

/// The kinds that are text, or a container without compression: a changed file often remains one of its kind.
const OPEN_KINDS: [DocumentKind; 8] = [
    DocumentKind::Rtf,
    DocumentKind::Csv,
    DocumentKind::Eml,
    DocumentKind::Msg,
    DocumentKind::Ipynb,
    DocumentKind::Jats,
    DocumentKind::DocBook,
    DocumentKind::Tei,
];

/// Checks that the readers of the detected kind and of all open kinds end within the limits, and that recognized words
/// become HTML wherever they stand.
pub(crate) fn check(data: &[u8]) {
    let detected = DocumentKind::detect(data, None).filter(|kind| !OPEN_KINDS.contains(kind));
    let limits = Limits {
        max_pages: 20,
        max_output_bytes: MAX_OUTPUT_BYTES,
        max_inflated_bytes: 1_000_000,
        ..Limits::default()
    };
    for kind in detected.into_iter().chain(OPEN_KINDS) {
        if let Ok(parsed) = parse(kind, data.to_vec(), &limits) {
            assert!(parsed.html.len() <= MAX_OUTPUT_BYTES, "{kind}: {} bytes", parsed.html.len());
        }
    }
    let html = recognized_html(&String::from_utf8_lossy(data));
    assert!(html.len() <= 100 * data.len(), "{} bytes", html.len());
}
