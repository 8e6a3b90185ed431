use std::io::Write;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let t = std::time::Instant::now();
    let r = websvc_documents::parse(
        websvc_documents::DocumentKind::Pdf,
        bytes,
        &websvc_documents::Limits::default(),
    )
    .unwrap();
    let e = t.elapsed().as_secs_f64();
    std::io::stdout().write_all(r.html.as_bytes()).unwrap();
    eprintln!(
        "{:?} {:?} {:?} {:.3}s {:.0} pages/s",
        r.about,
        r.pages.as_ref().map(|p| (p.read, p.total, p.without_text.len())),
        r.warnings,
        e,
        r.pages.as_ref().unwrap().read as f64 / e
    );
}
