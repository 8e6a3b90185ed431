//! Screenshots and PDFs, decoded and checked.

use std::io::Cursor;

use websvc_browser::{
    BrowserConfig, Device, Extent, Image, ImageKind, Orientation, Paper, Print, RenderRequest, Screenshot,
    Step, Viewport,
};
use websvc_testkit::{Page, TestWeb};

use crate::support::{config, request, setup_page, setup_with};

/// A page that is red, and blue from 2000 to 3000 pixels.
const COLORS: &str = "<style>body { margin: 0 } div { background: #f00; height: 2000px }
    div + div { background: #00f; height: 1000px }</style><div></div><div></div>";

/// A decoded PNG.
struct Pixels {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
    samples: usize,
}

impl Pixels {
    fn decode(image: &Image) -> Self {
        assert_eq!(image.kind, ImageKind::Png);
        let mut reader = png::Decoder::new(Cursor::new(image.bytes.as_ref())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        Self { width: info.width, height: info.height, bytes, samples: info.color_type.samples() }
    }

    fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let start = (y as usize * self.width as usize + x as usize) * self.samples;
        self.bytes[start..start + 3].try_into().unwrap()
    }
}

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

/// The whole page in a window that is narrow, which makes the test fast, and 800 pixels high, as the default one.
fn narrow_full_page() -> Screenshot {
    Screenshot { viewport: Some(Viewport { width: 320, height: 800 }), ..full_page() }
}

fn full_page() -> Screenshot {
    Screenshot { extent: Extent::FullPage, ..Screenshot::default() }
}

#[tokio::test]
async fn screenshot_shows_the_window() {
    let Some(setup) = setup_page(COLORS).await else { return };
    let request = RenderRequest { screenshot: Some(Screenshot::default()), ..request("http://a.test/") };
    let pixels = Pixels::decode(&setup.open(&request).await.unwrap().screenshot.unwrap());
    assert_eq!((pixels.width, pixels.height), (1280, 800));
    assert_eq!(pixels.at(640, 799), RED);
    setup.browser.stop().await;
}

#[tokio::test]
async fn full_page_screenshot_shows_the_end_of_the_page() {
    let Some(setup) = setup_page(COLORS).await else { return };
    let rendered = setup.run_steps(vec![Step::Screenshot(full_page())]).await.unwrap();
    let pixels = Pixels::decode(&rendered.screenshots[0]);
    assert_eq!((pixels.width, pixels.height), (1280, 3000));
    assert_eq!((pixels.at(5, 1995), pixels.at(1275, 2005), pixels.at(640, 2995)), (RED, BLUE, BLUE));
    setup.browser.stop().await;
}

#[tokio::test]
async fn screenshot_with_viewport_has_its_own_window() {
    let Some(setup) = setup_page(COLORS).await else { return };
    let viewport = Some(Viewport { width: 300, height: 200 });
    let steps = vec![
        Step::Screenshot(Screenshot { viewport, ..Screenshot::default() }),
        Step::Screenshot(Screenshot { viewport, ..full_page() }),
        Step::Screenshot(Screenshot::default()),
    ];
    let rendered = setup.run_steps(steps).await.unwrap();
    let sizes: Vec<_> =
        rendered.screenshots.iter().map(Pixels::decode).map(|pixels| (pixels.width, pixels.height)).collect();
    assert_eq!(sizes, [(300, 200), (300, 3000), (1280, 800)]);
    setup.browser.stop().await;
}

#[tokio::test]
async fn screenshot_of_mobile_device_has_three_pixels_per_css_pixel() {
    let Some(setup) = setup_page("<meta name=viewport content='width=device-width'><p>x").await else {
        return;
    };
    let screenshot = Some(Screenshot::default());
    let request = RenderRequest { device: Device::Mobile, screenshot, ..request("http://a.test/") };
    let pixels = Pixels::decode(&setup.open(&request).await.unwrap().screenshot.unwrap());
    assert_eq!((pixels.width, pixels.height), (3 * 390, 3 * 844));
    setup.browser.stop().await;
}

#[tokio::test]
async fn screenshot_with_lower_quality_is_a_smaller_jpeg() {
    let noise = "<canvas id=c width=600 height=400></canvas><script>
        const g = c.getContext('2d');
        for (let i = 0; i < 20000; i++) {
            g.fillStyle = `hsl(${i * 137 % 360} 80% 50%)`; g.fillRect(i * 7 % 600, i * 13 % 400, 9, 9)
        }</script>";
    let Some(setup) = setup_page(noise).await else { return };
    let screenshot =
        |quality| Step::Screenshot(Screenshot { quality: Some(quality), ..Screenshot::default() });
    let images =
        setup.run_steps(vec![screenshot(100), screenshot(90), screenshot(10)]).await.unwrap().screenshots;
    let kinds: Vec<_> = images.iter().map(|image| image.kind).collect();
    assert_eq!(kinds, [ImageKind::Png, ImageKind::Jpeg, ImageKind::Jpeg]);
    assert!(images[1].bytes.starts_with(&[0xff, 0xd8, 0xff]));
    assert!(images[2].bytes.len() < images[1].bytes.len());
    setup.browser.stop().await;
}

#[tokio::test]
async fn screenshot_beyond_the_pixel_limit_is_cut_with_a_warning() {
    let Some(config) = config() else { return };
    let config = BrowserConfig { max_screenshot_pixels: 1280 * 1000, ..config };
    let setup =
        setup_with(TestWeb::builder().page("http://a.test/", Page::html(COLORS)), config).await.unwrap();
    let wide =
        Screenshot { viewport: Some(Viewport { width: 100_000, height: 10_000 }), ..Screenshot::default() };
    let rendered =
        setup.run_steps(vec![Step::Screenshot(full_page()), Step::Screenshot(wide)]).await.unwrap();
    let pixels = Pixels::decode(&rendered.screenshots[0]);
    assert_eq!((pixels.width, pixels.height), (1280, 1000));
    let pixels = Pixels::decode(&rendered.screenshots[1]);
    assert!(pixels.width * pixels.height <= 1280 * 1000, "{} by {}", pixels.width, pixels.height);
    assert_eq!(rendered.warnings.len(), 2, "{:?}", rendered.warnings);
    assert!(rendered.warnings[0].contains("3000 pixels high"), "{:?}", rendered.warnings);
    setup.browser.stop().await;
}

/// A page of 30,000 pixels, with fixed elements at both ends of the window and a color for each 1000 pixels.
const LONG: &str = "<style>body { margin: 0 } nav { position: fixed; inset: 0 0 auto; height: 50px; background: #0f0 }
    footer { position: fixed; inset: auto 0 0; height: 50px; background: #0f0 } div { height: 1000px }</style>
    <nav></nav><footer></footer><script>resized = 0
    for (let i = 0; i < 30; i++) document.write(`<div style='background: rgb(${i}, 0, ${255 - i})'></div>`)</script>";

#[tokio::test]
async fn very_long_page_is_stitched_into_one_png() {
    let Some(setup) = setup_page(LONG).await else { return };
    let rendered = setup.run_steps(vec![Step::Screenshot(narrow_full_page())]).await.unwrap();
    assert_eq!(rendered.warnings, [""; 0]);
    let pixels = Pixels::decode(&rendered.screenshots[0]);
    assert_eq!((pixels.width, pixels.height), (320, 30_000));
    // Fixed elements appear once, at their position in the window.
    const GREEN: [u8; 3] = [0, 255, 0];
    let green: Vec<u32> = (0..pixels.height).filter(|y| pixels.at(100, *y) == GREEN).collect();
    assert_eq!(green, (0..50).chain(750..800).collect::<Vec<_>>());
    for y in (50..750).chain(800..30_000) {
        let part = u8::try_from(y / 1000).unwrap();
        assert_eq!(pixels.at(3, y), [part, 0, 255 - part], "{y}");
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn very_long_page_with_lower_quality_is_stitched_into_one_jpeg() {
    let Some(setup) = setup_page(LONG).await else { return };
    let screenshot = |quality| Step::Screenshot(Screenshot { quality: Some(quality), ..narrow_full_page() });
    let images = setup.run_steps(vec![screenshot(90), screenshot(10)]).await.unwrap().screenshots;
    for image in &images {
        assert_eq!(image.kind, ImageKind::Jpeg);
        assert!(image.bytes.starts_with(&[0xff, 0xd8, 0xff]) && image.bytes.ends_with(&[0xff, 0xd9]));
        assert_eq!(jpeg_size(&image.bytes), (320, 30_000));
    }
    assert!(images[1].bytes.len() < images[0].bytes.len());
    setup.browser.stop().await;
}

/// Returns the size in the frame header.
fn jpeg_size(jpeg: &[u8]) -> (u16, u16) {
    let mut at = 2;
    loop {
        let number = |at: usize| u16::from_be_bytes([jpeg[at], jpeg[at + 1]]);
        match number(at) {
            0xffc0..=0xffc2 => return (number(at + 7), number(at + 5)),
            _ => at += 2 + usize::from(number(at + 2)),
        }
    }
}

#[tokio::test]
async fn full_page_screenshot_on_mobile_shows_a_zoomed_out_page() {
    let halves = "<style>body { margin: 0 } div { height: 12000px; background: linear-gradient(90deg, #f00 50%, #00f 50%) }
        </style><div></div>";
    let Some(setup) = setup_page(halves).await else { return };
    let screenshot = Some(full_page());
    let request = RenderRequest { device: Device::Mobile, screenshot, ..request("http://a.test/") };
    let pixels = Pixels::decode(&setup.open(&request).await.unwrap().screenshot.unwrap());
    // A layout of 980 CSS pixels, zoomed out to 390, with three pixels each. The last row is partly covered.
    assert_eq!(pixels.width, 1170);
    assert!(pixels.height.abs_diff(12_000 * 1170 / 980) < 20, "{}", pixels.height);
    for y in 0..pixels.height - 1 {
        assert_eq!((pixels.at(3, y), pixels.at(1160, y)), (RED, BLUE), "{y}");
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn full_page_screenshot_shows_what_loads_when_it_is_scrolled_into_the_window() {
    let late = "<style>body { margin: 0 } p { margin: 0; height: 2000px } div { height: 100px; background: #f00 }</style>
        <p></p><div></div><p></p><script>new IntersectionObserver(entries => {
            for (const { isIntersecting, target } of entries) if (isIntersecting) target.style.background = '#00f';
        }).observe(document.querySelector('div'))</script>";
    let Some(setup) = setup_page(late).await else { return };
    let scrolled = Step::Script("scrollTo(0, 300)".to_owned());
    let position = Step::Script("scrollY".to_owned());
    let rendered = setup.run_steps(vec![scrolled, Step::Screenshot(full_page()), position]).await.unwrap();
    assert_eq!(Pixels::decode(&rendered.screenshots[0]).at(640, 2050), BLUE);
    assert!(rendered.warnings.is_empty(), "{:?}", rendered.warnings);
    assert_eq!(rendered.returns.last().unwrap().value, 300, "the page is scrolled back");
    setup.browser.stop().await;
}

#[tokio::test]
async fn full_page_screenshot_includes_content_wider_than_the_window() {
    let wide =
        "<style>body { margin: 0 } div { width: 3000px; height: 900px; background: #f00 }</style><div></div>";
    let Some(setup) = setup_page(wide).await else { return };
    let scrolled = Step::Script("scrollTo(500, 60)".to_owned());
    let rendered = setup.run_steps(vec![scrolled, Step::Screenshot(full_page())]).await.unwrap();
    let pixels = Pixels::decode(&rendered.screenshots[0]);
    assert_eq!((pixels.width, pixels.height), (3000, 900));
    assert_eq!((pixels.at(0, 0), pixels.at(2999, 899)), (RED, RED));
    setup.browser.stop().await;
}

#[tokio::test]
async fn long_screenshot_beyond_the_size_limit_gets_lower_quality_and_is_cut() {
    let Some(config) = config() else { return };
    // Captured at once, and in slices.
    for (height, limit) in [(1200, 500_000), (6500, 2_000_000)] {
        let noise = format!("<style>body {{ margin: 0 }} div {{ height: {height}px }}</style><canvas id=c width=1280 height=800></canvas><script>
            const g = c.getContext('2d'), d = g.createImageData(1280, 800);
            let s = 1; for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 == 3 ? 255 : (s = s * 16807 % 2147483647) & 255;
            g.putImageData(d, 0, 0); document.body.style.background = `url(${{c.toDataURL()}})`</script><div></div>");
        let config = BrowserConfig { max_file_bytes: limit, ..config.clone() };
        let setup =
            setup_with(TestWeb::builder().page("http://a.test/", Page::html(&noise)), config).await.unwrap();
        let rendered = setup.run_steps(vec![Step::Screenshot(full_page())]).await.unwrap();
        let image = &rendered.screenshots[0];
        assert!(image.kind == ImageKind::Jpeg && image.bytes.len() <= limit);
        let (columns, rows) = jpeg_size(&image.bytes);
        assert!(columns == 1280 && (300..height + 800).contains(&rows), "{columns} by {rows}");
        let warnings = rendered.warnings.join("; ");
        assert!(warnings.contains("lower quality"), "{warnings}");
        assert!(
            warnings.contains(&format!("was cut after {rows}, to stay below {limit} bytes")),
            "{warnings}"
        );
        setup.browser.stop().await;
    }
}

#[tokio::test]
async fn screenshot_beyond_the_size_limit_gets_lower_quality() {
    let Some(config) = config() else { return };
    let noise = "<canvas id=c width=1200 height=700></canvas><script>
        const g = c.getContext('2d'), d = g.createImageData(1200, 700);
        let s = 1; for (let i = 0; i < d.data.length; i++) d.data[i] = (s = s * 16807 % 2147483647) & 255;
        g.putImageData(d, 0, 0)</script>";
    let config = BrowserConfig { max_file_bytes: 1_500_000, ..config };
    let setup =
        setup_with(TestWeb::builder().page("http://a.test/", Page::html(noise)), config).await.unwrap();
    let rendered = setup.run_steps(vec![Step::Screenshot(Screenshot::default())]).await.unwrap();
    assert_eq!(rendered.screenshots[0].kind, ImageKind::Jpeg);
    assert!(rendered.warnings[0].contains("lower quality"), "{:?}", rendered.warnings);
    setup.browser.stop().await;
}

#[tokio::test]
async fn pdf_has_the_requested_paper_size() {
    let Some(setup) = setup_page("<h1>printed words</h1>").await else { return };
    let cases = [
        (Print::default(), (612.0, 792.0)),
        (Print { paper: Paper::A4, ..Print::default() }, (595.0, 842.0)),
        (Print { paper: Paper::A6, orientation: Orientation::Landscape, ..Print::default() }, (420.0, 298.0)),
        (Print { paper: Paper::Tabloid, scale: 0.5, ..Print::default() }, (792.0, 1224.0)),
        (Print { paper: Paper::Ledger, ..Print::default() }, (1224.0, 792.0)),
        (Print { paper: Paper::A0, scale: 9.0, ..Print::default() }, (2384.0, 3370.0)),
    ];
    let steps = cases.iter().map(|(print, _)| Step::Print(*print)).collect();
    let rendered = setup.run_steps(steps).await.unwrap();
    for (pdf, (print, expected)) in rendered.pdfs.iter().zip(cases) {
        assert!(pdf.starts_with(b"%PDF-"));
        let (width, height) = media_box(pdf);
        let is_near = (width - expected.0).abs() < 1.5 && (height - expected.1).abs() < 1.5;
        assert!(is_near, "{print:?}: {width} by {height}");
    }
    assert_eq!(rendered.warnings, ["a PDF is scaled by 0.1 to 2, so 2 was used instead of 9"]);
    setup.browser.stop().await;
}

/// Returns the size of the first page, in points.
fn media_box(pdf: &[u8]) -> (f64, f64) {
    let text = String::from_utf8_lossy(pdf);
    let (_, rest) = text.split_once("/MediaBox [").expect("a page has a size");
    let numbers: Vec<f64> =
        rest.split(']').next().unwrap().split_ascii_whitespace().map(|n| n.parse().unwrap()).collect();
    (numbers[2] - numbers[0], numbers[3] - numbers[1])
}
