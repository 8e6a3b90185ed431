//! PDF files that want to cost much, and bytes that are none.

use proptest::prelude::*;
use websvc_documents::{DocumentKind, Limits, parse};

use crate::pdf_writer::{Page, pdf, pdf_with, stream};

#[test]
fn forms_that_draw_each_other_end() {
    // Each form draws the next ten times: 10^20 pieces of text, were they all drawn.
    let forms: Vec<Vec<u8>> = (0..20)
        .map(|at| {
            let next = 10 + (at + 1) % 20;
            let entries = format!(
                "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /Fm {next} 0 R >> \
                 /Font << /F1 3 0 R >> >>"
            );
            stream(&entries, "/Fm Do ".repeat(10).as_bytes())
        })
        .collect();
    let bytes = pdf_with(&[Page::default().raw("/Fm1 Do")], "/XObject << /Fm1 10 0 R >>", &forms, "");
    let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap();
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}

#[test]
fn endless_instructions_end() {
    let page = Page::default().raw(&"q ".repeat(5_000_000));
    let parsed = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default()).unwrap();
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("[{}{}] 0 d", "[".repeat(200_000), "]".repeat(200_000));
    let page = Page::default().raw(&deep).lines(50.0, 100.0, &["behind it"]);
    // What follows may be lost; the process is not.
    let _ = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default());
}

#[test]
fn pages_that_are_their_own_parents_end() {
    let bytes = b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
        2 0 obj << /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >> endobj\ntrailer << /Root 1 0 R >>";
    let _ = parse(DocumentKind::Pdf, bytes.to_vec(), &Limits::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let page = Page::default()
            .lines(50.0, 100.0, &["some text", "and more of it"])
            .rule(10.0, 10.0, 100.0, 10.0)
            .link(0.0, 0.0, 100.0, 100.0, "https://a.test/");
        let mut bytes = pdf(&[page.clone(), page]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let limits = Limits { max_output_bytes: 10_000, ..Limits::default() };
        if let Ok(parsed) = parse(DocumentKind::Pdf, bytes, &limits) {
            prop_assert!(parsed.html.len() <= 10_000);
        }
    }

    #[test]
    fn arbitrary_content_never_panics(content in "[ -~]{0,200}", numbers in prop::collection::vec(-1e9_f64..1e9, 6)) {
        let [a, b, c, d, e, f] = numbers.try_into().unwrap();
        let page = Page::default().raw(&format!("{a} {b} {c} {d} {e} {f} cm BT /F1 {a} Tf ({b}) Tj")).raw(&content);
        let _ = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = parse(DocumentKind::Pdf, bytes, &Limits::default());
    }
}
