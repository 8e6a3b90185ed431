//! Attacks without a page of their own: the client names the address.

use serde_json::json;

use super::EgressTest;
use super::ways::{Client, Way};

/// The URL of an attack.
pub(super) struct Target {
    url: String,
}

impl Target {
    pub(super) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }
}

/// An attack that names its address. `URL` stands for it in a text.
#[derive(Clone, Copy)]
pub(super) enum DirectAttack {
    /// A program, in the language of the way.
    Code(&'static str),
    /// A script of the first page.
    Script(&'static str),
    /// A command of the protocol in a new tab, with its parameters as JSON.
    Command(&'static str, &'static str),
    /// A request of a page that the client answers with another address: the command and its parameters.
    Interception(&'static str, &'static str),
    /// A click on a link to the address.
    Click,
    /// The address, typed into a page.
    Typing,
}

impl DirectAttack {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Code(text) | Self::Script(text) | Self::Command(text, _) | Self::Interception(text, _) => {
                text
            }
            Self::Click => "click",
            Self::Typing => "typing",
        }
    }

    /// Starts it. An attack on a forbidden address may fail.
    pub(super) async fn start(self, way: &mut Way, test: &EgressTest, target: &Target) {
        let fill = |text: &str| text.replace("URL", &target.url);
        match (self, way) {
            (Self::Code(code), Way::Node) => {
                let code = format!("try {{ {} }} catch {{}}", fill(code));
                let ran = test.test.execute(&test.session, "node", &code).await;
                assert_eq!(ran["exitCode"], 0, "{ran}");
            }
            (Self::Code(code), Way::Bash) => {
                drop(test.test.execute(&test.session, "bash", &fill(code)).await);
            }
            (Self::Code(code), Way::Playwright(playwright)) => playwright.run(&fill(code)).await,
            (Self::Script(script), Way::Client(client) | Way::Popup(client)) => {
                client.evaluate(&fill(script)).await;
            }
            (Self::Command(method, params), Way::Client(client)) => {
                let tab = client.open_tab("about:blank").await;
                // The target of a page is the ID of its main frame.
                let tree = client.cdp.call(Some(&tab), "Page.getFrameTree", json!({})).await;
                let frame = tree["result"]["frameTree"]["frame"]["id"].as_str().unwrap().to_owned();
                let params = serde_json::from_str(&fill(params).replace("FRAME", &frame)).unwrap();
                let sent = client.cdp.call(Some(&tab), method, params).await;
                assert!(!sent["result"].is_null(), "{method} is forwarded: {sent}");
            }
            (Self::Interception(method, params), Way::Client(client)) => {
                intercept(client, method, &fill(params)).await;
            }
            (Self::Click, way @ Way::LiveView(..)) => way.open(test, &target.url).await,
            (Self::Typing, Way::LiveView(client, viewer)) => {
                client.show("http://a.localhost/link?about:blank").await;
                viewer.send(json!({"kind": "text", "text": target.url})).await;
                for kind in ["keyDown", "keyUp"] {
                    let key = json!({"kind": "key", "type": kind, "key": "Enter", "code": "Enter",
                        "windowsVirtualKeyCode": 13});
                    viewer.send(key).await;
                }
            }
            _ => panic!("{} is not an attack of this way", self.name()),
        }
    }
}

/// Lets a page send a request, and answers it.
async fn intercept(client: &mut Client, method: &str, params: &str) {
    let tab = client.open_tab("about:blank").await;
    client.cdp.call(Some(&tab), "Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]})).await;
    let navigate = json!({"expression": "location = 'http://a.localhost/end?intercepted'; 1"});
    client.cdp.call(Some(&tab), "Runtime.evaluate", navigate).await;
    let paused = client.cdp.event("Fetch.requestPaused").await;
    let mut params: serde_json::Value = serde_json::from_str(params).unwrap();
    params["requestId"] = paused["params"]["requestId"].clone();
    client.cdp.call(Some(&tab), method, params).await;
    // The request after a redirect is paused, too.
    client.cdp.call(Some(&tab), "Fetch.disable", json!({})).await;
}

pub(super) fn programs() -> Vec<DirectAttack> {
    [
        "await page.goto('URL')",
        "const other = await context.newPage(); await other.goto('URL')",
        "await page.evaluate(() => fetch('URL', { mode: 'no-cors' }))",
        "await page.evaluate(() => { location = 'URL' })",
        "await page.evaluate(() => { window.open('URL') })",
        "await page.setContent('<img src=URL>')",
        "await page.addScriptTag({ url: 'URL' })",
        "await page.addStyleTag({ url: 'URL' })",
        "await page.setContent('<form method=post action=URL><button>x</button></form>'); await page.click('button')",
        "const other = await context.newPage(); await other.addInitScript(() => fetch('URL', { mode: 'no-cors' }));
         await other.goto('http://a.localhost/end')",
        "await page.setContent('<a download=x href=URL>x</a>'); const event = page.waitForEvent('download', { timeout: 2000 });
         await page.click('a'); await (await event).saveAs('x')",
    ]
    .map(DirectAttack::Code)
    .into()
}

pub(super) fn commands() -> Vec<DirectAttack> {
    [
        "open URL",
        "tab new URL",
        "eval \"fetch('URL', {mode: 'no-cors'}); 1\"",
        "eval \"location = 'URL'; 1\"",
        "eval \"window.open('URL'); 1\"",
    ]
    .map(DirectAttack::Code)
    .into()
}

pub(super) fn protocol() -> Vec<DirectAttack> {
    let mut attacks: Vec<DirectAttack> = [
        ("Page.navigate", r#"{"url": "URL"}"#),
        ("Page.navigate", r#"{"url": "URL", "frameId": "FRAME", "referrer": "http://b.test/"}"#),
        ("Target.createTarget", r#"{"url": "URL"}"#),
        ("Target.createTarget", r#"{"url": "URL", "newWindow": true, "background": true}"#),
        ("Runtime.evaluate", r#"{"expression": "fetch('URL', {mode: 'no-cors'}); 1"}"#),
        ("Page.setDocumentContent", r#"{"frameId": "FRAME", "html": "<img src='URL'>"}"#),
    ]
    .map(|(method, params)| DirectAttack::Command(method, params))
    .into();
    attacks.extend([
        DirectAttack::Interception("Fetch.continueRequest", r#"{"url": "URL"}"#),
        DirectAttack::Interception(
            "Fetch.fulfillRequest",
            r#"{"responseCode": 302, "responseHeaders": [{"name": "location", "value": "URL"}]}"#,
        ),
    ]);
    attacks
}

pub(super) fn windows() -> Vec<DirectAttack> {
    [
        "window.open('URL', '_blank', 'noopener'); 1",
        "window.open('about:blank').location = 'URL'; 1",
        "window.open('about:blank').document.write('<img src=URL>'); 1",
        "window.open('about:blank').fetch('URL', {mode: 'no-cors'}); 1",
        "Object.assign(document.createElement('a'), {target: '_blank', href: 'URL'}).click(); 1",
        "document.body.innerHTML = '<form method=post target=_blank action=URL></form>'; document.forms[0].submit(); 1",
    ]
    .map(DirectAttack::Script)
    .into()
}

pub(super) fn inputs() -> Vec<DirectAttack> {
    vec![DirectAttack::Click, DirectAttack::Typing]
}

pub(super) fn playwright() -> Vec<DirectAttack> {
    [
        "await page.goto('URL')",
        "const other = await context.newPage(); await other.goto('URL')",
        "await page.setContent('<img src=URL>')",
        "await page.route('**', (route) => route.continue({ url: 'URL' }));
         await page.goto('http://a.localhost/end').finally(() => page.unroute('**'))",
        "await page.route('**', (route) => route.fulfill({ status: 302, headers: { location: 'URL' } }), { times: 1 });
         await page.goto('http://a.localhost/end').finally(() => page.unroute('**'))",
        "await page.evaluate(() => { window.open('URL') })",
    ]
    .map(DirectAttack::Code)
    .into()
}
