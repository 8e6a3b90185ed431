//! Downloads that a page starts.

use websvc_browser::{BrowserError, Cookie, DownloadCause, Matches, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{request, setup};

const LINKS: &str = "<p>words of the page</p>
    <a id=pdf href='/file.pdf'>x</a><a id=saved download='n.csv' href='/table.csv'>y</a><a id=led href='/led'>z</a>
    <form method=post action='/file.pdf'><input></form>
    <a id=made download='b.csv' href='data:text/csv,a'>made</a>";

fn web(home: &str) -> TestWebBuilder {
    let pdf = Page::new("application/pdf", "%PDF-1.4 x");
    let named = pdf.clone().header("content-disposition", "attachment; filename=\"Report.pdf\"");
    TestWeb::builder()
        .page("http://a.test/", Page::html(home).header("set-cookie", "session=1; HttpOnly"))
        .page("http://a.test/file.pdf", pdf)
        .page("http://a.test/table.csv", Page::new("text/csv", "a,b"))
        .page("http://a.test/led", Page::redirect(302, "http://b.test/report"))
        .page("http://b.test/report", named)
}

fn click(selector: &str) -> Step {
    Step::Click { selector: selector.to_owned(), matches: Matches::First }
}

#[tokio::test]
async fn download_by_an_action_is_reported_with_its_cookies() {
    let Some(setup) = setup(web(LINKS)).await else { return };
    let session_cookie = vec![Cookie { name: "session".to_owned(), value: "1".to_owned() }];
    for (selector, url, name, cookies) in [
        ("#pdf", "http://a.test/file.pdf", "file.pdf", session_cookie.clone()),
        ("#saved", "http://a.test/table.csv", "n.csv", session_cookie),
        ("#led", "http://b.test/report", "Report.pdf", vec![]),
    ] {
        let rendered = setup.run_steps(vec![click(selector)]).await.unwrap();
        let [download] = &rendered.downloads[..] else { panic!("{selector}: {:?}", rendered.downloads) };
        assert_eq!((download.url.as_str(), download.name.as_str()), (url, name));
        assert_eq!((download.cause, &download.cookies), (DownloadCause::Action, &cookies), "{selector}");
        assert_eq!(rendered.url, "http://a.test/");
        assert!(rendered.html.contains("words of the page"));
        assert_eq!(rendered.headers["content-type"], "text/html; charset=utf-8");
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn download_that_cannot_be_requested_again_has_cause_page() {
    let Some(setup) = setup(web(LINKS)).await else { return };
    let submit = Step::Script("document.forms[0].submit()".to_owned());
    for (steps, url) in [
        (vec![submit, Step::Wait(std::time::Duration::from_millis(500))], "http://a.test/file.pdf"),
        (vec![click("#made")], "data:text/csv,a"),
    ] {
        let rendered = setup.run_steps(steps).await.unwrap();
        let [download] = &rendered.downloads[..] else { panic!("{url}: {:?}", rendered.downloads) };
        assert_eq!((download.url.as_str(), download.cause), (url, DownloadCause::Page));
        assert_eq!(download.cookies, []);
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn downloads_by_the_page_itself_are_reported_and_keep_its_document() {
    let html =
        "<p>words of the page</p><iframe src='/file.pdf'></iframe><script>location = '/file.pdf'</script>";
    let Some(setup) = setup(web(html)).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("words of the page"));
    assert!(!rendered.downloads.is_empty());
    assert!(rendered.downloads.iter().all(|download| download.cause == DownloadCause::Page));
    let direct = setup.open(&request("http://a.test/file.pdf")).await;
    assert!(matches!(direct, Err(BrowserError::Download)), "{direct:?}");
    setup.browser.stop().await;
}
