//! The recipes of the manual page: each test runs the text of the page against the program and a shop.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Child;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};

use super::SessionTest;
use super::live::Viewer;
use crate::recipe;

/// The form that the person of a recipe fills in.
const CHECK: &str = "<!DOCTYPE html><title>Check</title><form method=post action=/welcome><label>Answer <input name=answer></label></form>";

fn html(title: &str, body: &str) -> Page {
    Page::html(format!("<!DOCTYPE html><title>{title}</title><main>{body}</main>"))
}

/// Adds the pages of `shop.example` in the manual.
pub(super) fn shop(world: TestWebBuilder, orders: &Arc<Mutex<Vec<String>>>) -> TestWebBuilder {
    let login = "<form method=post action=/session><label>User <input name=user></label> \
                 <label>Password <input name=password type=password></label> <button>Log in</button></form>";
    let order = "<form method=post action=/orders><label>Name <input name=name></label> \
                 <label>Tea <select name=tea><option value=assam>Assam</option><option value=sencha>Sencha</option></select></label> \
                 <label><input type=checkbox name=wrap> Gift wrap</label> <button>Order</button></form>";
    let orders = Arc::clone(orders);
    world
        .page("http://shop.test/login", html("Log in", login))
        .page_with("http://shop.test/session", |request: &ReceivedRequest| {
            if request.body.as_ref() == b"user=anna&password=oolong" {
                Page::redirect(303, "/account").header("set-cookie", "login=anna; Path=/; Max-Age=3600")
            } else {
                html("Error", "Wrong password").status(403)
            }
        })
        .page_with("http://shop.test/account", |request: &ReceivedRequest| match request.header("cookie") {
            Some("login=anna") => html(
                "Account",
                "<h1>Hello Anna</h1><p>You have ordered one pot of tea, and it is on its way.</p>",
            ),
            _ => html("Account", "<p>Log in first.</p>").status(401),
        })
        .page("http://shop.test/order", html("Order", order))
        .page_with("http://shop.test/orders", move |request: &ReceivedRequest| {
            orders.lock().unwrap().push(String::from_utf8_lossy(&request.body).into_owned());
            html("Ordered", "<p role=status>Thank you, Anna</p>")
        })
        .page("http://shop.test/teas", html("Teas", "<ul><li>Assam<li>Sencha</ul><a href=/teas/2>Next</a>"))
        .page("http://shop.test/teas/2", html("Teas 2", "<ul><li>Oolong</ul><a href=/teas/3>Next</a>"))
        .page("http://shop.test/teas/3", html("Teas 3", "<ul><li>Matcha</ul><a href=/teas/2>Back</a>"))
        .page("http://shop.test/check", Page::html(CHECK))
        .page_with("http://shop.test/welcome", |request: &ReceivedRequest| {
            if request.body.as_ref() == b"answer=seven" {
                html("Welcome", "<h1>Welcome back</h1>")
            } else {
                html("Error", "<h1>Wrong answer</h1>")
            }
        })
}

/// A running recipe.
struct Recipe {
    test: SessionTest,
    orders: Arc<Mutex<Vec<String>>>,
    process: Child,
    _directory: tempfile::TempDir,
}

impl Recipe {
    async fn start(title: &str) -> Option<Self> {
        let orders = Arc::default();
        let test = SessionTest::start_with(shop(TestWeb::builder(), &orders)).await?;
        let (mut bash, directory) = recipe::shell("browser-sessions.md", title, &test.service.address)?;
        bash.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = bash.spawn().unwrap();
        Some(Self { test, orders, process, _directory: directory })
    }

    /// Returns the lines that the recipe prints until its end.
    async fn output(&mut self) -> Vec<String> {
        let (mut output, mut errors) = (String::new(), String::new());
        self.process.stdout.as_mut().unwrap().read_to_string(&mut output).await.unwrap();
        self.process.stderr.as_mut().unwrap().read_to_string(&mut errors).await.unwrap();
        let status = self.process.wait().await.unwrap();
        assert!(status.success(), "{status} {output} {errors}");
        output.lines().map(str::to_owned).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_logs_in_once_and_scrapes() {
    let Some(mut recipe) = Recipe::start("Log in once, then scrape").await else { return };
    let output = recipe.output().await;
    assert_eq!(output[..3], ["Hello Anna", "true", "# Hello Anna"], "{output:?}");
    assert!(output.concat().contains("one pot of tea"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_fills_a_form() {
    let Some(mut recipe) = Recipe::start("Fill a form").await else { return };
    assert_eq!(recipe.output().await, ["Thank you, Anna", "true"]);
    assert_eq!(*recipe.orders.lock().unwrap(), ["name=Anna&tea=sencha&wrap=on"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_turns_pages_and_collects() {
    let Some(mut recipe) = Recipe::start("Turn pages and collect").await else { return };
    assert_eq!(recipe.output().await, [r#"["Assam","Sencha","Oolong","Matcha"]"#, "true"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn recipe_hands_over_to_a_person_and_continues() {
    let Some(mut recipe) = Recipe::start("Hand over to a person, and continue").await else { return };
    let mut lines = BufReader::new(recipe.process.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "0");
    let line = lines.next_line().await.unwrap().unwrap();
    let url = line.strip_prefix("Please solve this: ").unwrap();
    let mut person = Viewer::connect(&recipe.test, &Value::from(url)).await;
    person.frame().await;
    person.send(json!({"kind": "text", "text": "seven"})).await;
    for kind in ["keyDown", "keyUp"] {
        let text = (kind == "keyDown").then_some("\r");
        let enter = json!({"kind": "key", "type": kind, "key": "Enter", "code": "Enter", "text": text, "windowsVirtualKeyCode": 13});
        person.send(enter).await;
    }
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "Welcome back");
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "true");
    assert!(recipe.process.wait().await.unwrap().success());
}
