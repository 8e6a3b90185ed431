//! Tests of hostile PDF files: expensive ones, and bytes that are not a valid PDF.

use proptest::prelude::*;
use websvc_documents::{DocumentKind, Limits, parse};

use crate::pdf_writer::{Page, pdf, pdf_with, stream};

#[test]
fn recursive_forms_are_cut_off() {
    // Each form draws the next one ten times, which would be 10^20 forms.
    let forms: Vec<Vec<u8>> = (0..20)
        .map(|index| {
            let next = 10 + (index + 1) % 20;
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
fn page_with_too_many_instructions_is_cut_off() {
    let page = Page::default().raw(&"q ".repeat(5_000_000));
    let parsed = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default()).unwrap();
    assert!(parsed.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", parsed.warnings);
}

#[test]
fn deeply_nested_arrays_do_not_overflow_the_stack() {
    let deep = format!("[{}{}] 0 d", "[".repeat(200_000), "]".repeat(200_000));
    let page = Page::default().raw(&deep).lines(50.0, 100.0, &["after the arrays"]);
    // The text after the arrays may be lost, but the process must not crash.
    let _ = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default());
}

#[test]
fn page_tree_with_a_cycle_is_read_without_a_hang() {
    let bytes = b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
        2 0 obj << /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >> endobj\ntrailer << /Root 1 0 R >>";
    let _ = parse(DocumentKind::Pdf, bytes.to_vec(), &Limits::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn mutated_pdf_does_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let page = Page::default()
            .lines(50.0, 100.0, &["some text", "and more of it"])
            .rule(10.0, 10.0, 100.0, 10.0)
            .link(0.0, 0.0, 100.0, 100.0, "https://a.test/");
        let mut bytes = pdf(&[page.clone(), page]);
        for (position, value) in changes {
            let index = position.index(bytes.len());
            bytes[index] = value;
        }
        let limits = Limits { max_output_bytes: 10_000, ..Limits::default() };
        if let Ok(parsed) = parse(DocumentKind::Pdf, bytes, &limits) {
            prop_assert!(parsed.html.len() <= 10_000);
        }
    }

    #[test]
    fn arbitrary_content_stream_does_not_panic(content in "[ -~]{0,200}", numbers in prop::collection::vec(-1e9_f64..1e9, 6)) {
        let [a, b, c, d, e, f] = numbers.try_into().unwrap();
        let page = Page::default().raw(&format!("{a} {b} {c} {d} {e} {f} cm BT /F1 {a} Tf ({b}) Tj")).raw(&content);
        let _ = parse(DocumentKind::Pdf, pdf(&[page]), &Limits::default());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = parse(DocumentKind::Pdf, bytes, &Limits::default());
    }
}
