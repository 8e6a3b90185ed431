//! Tests of the appearance of the pages: light and dark, narrow and wide, accessible and without horizontal
//! overflow. `WEBSVC_PICTURES` names the directory for their screenshots.

use std::path::PathBuf;

use serde_json::{Value, json};
use websvc_browser::{Extent, Screenshot, Step};

use super::{Stage, stage};
use crate::harness::skip;

/// The directory where pictures are left.
const PICTURES: &str = "WEBSVC_PICTURES";

/// Makes the page light or dark, whatever the system says: by its own style sheet, as the browser would.
const SCHEME: &str = r#"
globalThis.scheme = (dark) => {
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
    if (rule instanceof CSSMediaRule && /prefers-color-scheme/.test(rule.media.mediaText)) rule.media.mediaText = dark ? "all" : "not all";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { animation: none !important; transition: none !important; caret-color: transparent !important; }");
  document.adoptedStyleSheets = [sheet];
};
"#;

/// Returns what is wrong with the page as it is.
const CHECK: &str = r#"(async () => {
  const { violations } = await axe.run();
  const wrong = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) {
    const wide = [...document.querySelectorAll("main *")].find((one) => one.getBoundingClientRect().right > clientWidth + 1 && !one.closest(".scroll, pre, nav"));
    wrong.push(`${scrollWidth} of ${clientWidth} pixels wide: ${wide?.outerHTML.slice(0, 200)}`);
  }
  return wrong;
})()"#;

/// Texts of several directions and a long word, shown as the service would have found them.
const FOREIGN: [(&str, &str, &str); 3] = [
    ("http://tea.test/he", "תה ירוק", "brewing: תה ירוק דורש מים של שמונים מעלות ושתי דקות של סבלנות."),
    ("http://tea.test/ja", "緑茶の淹れ方", "brewing: 緑茶は八十度のお湯で二分間待つとおいしくなります。"),
    (
        "http://tea.test/a-very-long-path/that-goes-on/and-on/and-on/without-any-end/in-sight/whatever-the-width/of-the-window.html",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftstee",
        "brewing with a title that has no place to break.",
    ),
];

/// The views in the order in which one browser sees them: a name, and how to get there.
const VIEWS: [(&str, &str); 11] = [
    ("playground", "await visit('playground', 'input[type=search]')"),
    (
        "results",
        "const query = document.querySelector('input[type=search]'); query.value = 'brewing'; \
         document.querySelector('fieldset input[value=markdown]').checked = true; query.form.requestSubmit(); \
         await until('a result', () => document.querySelector('.result')); \
         document.querySelector('.result details').open = true; await until('the content', () => document.querySelector('.rendered'))",
    ),
    (
        "everything",
        "for (const part of document.querySelectorAll('main details')) part.open = true; \
         await until('every part', () => !document.querySelector('main details > div > .busy'))",
    ),
    (
        "refusal",
        "await visit('usage', 'svg'); await visit('playground', 'input[type=search]'); \
         const query = document.querySelector('input[type=search]'); query.value = 'brewing'; \
         document.querySelector('textarea[placeholder^=\"[{\"]').value = '[{\"type\": \"screenshot\", \"quality\": 900}]'; query.form.requestSubmit(); \
         await until('a refusal', () => document.querySelector('#alert').textContent)",
    ),
    ("usage", "await visit('usage', 'svg')"),
    ("requests", "await visit('requests', 'table'); document.querySelector('td details').open = true"),
    (
        "keys",
        "await visit('keys', 'table'); labelled('Name').value = 'a key'; document.querySelector('form').requestSubmit(); \
         await until('the key', () => document.querySelector('.secret'))",
    ),
    (
        "question",
        "button('Revoke').click(); await until('the question', () => document.querySelector('dialog[open]'))",
    ),
    (
        "teams",
        "document.querySelector('dialog').close(); await visit('teams', 'table'); button('Change').click(); \
         await until('the form', () => document.querySelector('main form'))",
    ),
    ("system", "await visit('system', 'dl')"),
    (
        "nothing",
        "await visit('playground', 'input[type=search]'); const query = document.querySelector('input[type=search]'); \
         query.value = 'zyzzyva'; query.form.requestSubmit(); await until('nothing', () => document.querySelector('[aria-label=Answer] h2'))",
    ),
];

fn script(text: impl Into<String>) -> Step {
    Step::Script(text.into())
}

/// Returns the steps of one view: there, what is wrong with it, and its picture.
fn view(way: &str) -> [Step; 3] {
    let picture = Screenshot { extent: Extent::FullPage, quality: None, viewport: None };
    [
        script(format!("(async () => {{ {way}; scrollTo(0, 0); }})()")),
        script(CHECK),
        Step::Screenshot(picture),
    ]
}

async fn check(stage: &Stage, axe: &str, width: u32, dark: bool) {
    let look = format!("{width}-{}", if dark { "dark" } else { "light" });
    let mut steps = vec![script(format!("{axe}; 0")), script(format!("{SCHEME} scheme({dark}); 0"))];
    steps.push(Step::WaitFor("form".to_owned()));
    steps.extend(view("0"));
    steps.extend(Stage::sign_in(&stage.key));
    steps.push(Step::WaitFor("nav a".to_owned()));
    for (_, way) in VIEWS {
        steps.extend(view(way));
    }
    let rendered = stage.open_at(width, "/", steps).await;
    let checked: Vec<&Value> =
        rendered.returns.iter().map(|one| &one.value).filter(|value| value.is_array()).collect();
    let names: Vec<&str> = std::iter::once("sign-in").chain(VIEWS.map(|(name, _)| name)).collect();
    let wrong: Vec<_> = names.iter().zip(&checked).filter(|(_, wrong)| **wrong != &json!([])).collect();
    leave(&look, &names, &rendered.screenshots);
    assert!(wrong.is_empty(), "{look}: {wrong:#?}");
    assert_eq!((checked.len(), rendered.screenshots.len()), (names.len(), names.len()), "{look}");
}

/// Leaves the pictures where somebody wants them.
fn leave(look: &str, names: &[&str], pictures: &[websvc_browser::Image]) {
    let Some(directory) = std::env::var_os(PICTURES).map(PathBuf::from) else { return };
    std::fs::create_dir_all(&directory).unwrap();
    for (name, picture) in names.iter().zip(pictures) {
        std::fs::write(directory.join(format!("dashboard-{name}-{look}.png")), &picture.bytes).unwrap();
    }
}

/// Fills a service with what there is to see.
async fn furnish(stage: &Stage) {
    let document =
        |(url, title, body): &(&str, &str, &str)| json!({"url": url, "title": title, "body": body});
    let documents: Vec<Value> = FOREIGN.iter().map(document).collect();
    stage.service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
    for (id, pages, waiting, ended) in [("docs", 120, 840, false), ("blog", 64, 0, true)] {
        let progress = json!({
            "id": id, "hosts": [format!("{id}.example")], "pages": pages, "failed": 2, "skipped": 7,
            "waiting": waiting, "ended": ended,
        });
        let told = stage.service.post("/v2/index/progress", progress.to_string()).await;
        assert_eq!(told.status, 200, "{}", told.body);
    }
}

async fn looks(test: &str, width: u32, dark: bool) {
    let Some(stage) = stage(test).await else { return };
    let Some(axe) = std::env::var_os("WEBSVC_TEST_AXE") else {
        skip(test, "WEBSVC_TEST_AXE is not set (cargo xtask test)");
        return;
    };
    furnish(&stage).await;
    check(&stage, &std::fs::read_to_string(axe).unwrap(), width, dark).await;
}

#[tokio::test]
async fn wide_and_light_no_page_breaks_a_rule_of_accessibility() {
    looks("wide_and_light_no_page_breaks_a_rule_of_accessibility", 1280, false).await;
}

#[tokio::test]
async fn wide_and_dark_no_page_breaks_a_rule_of_accessibility() {
    looks("wide_and_dark_no_page_breaks_a_rule_of_accessibility", 1280, true).await;
}

#[tokio::test]
async fn narrow_and_light_no_page_breaks_a_rule_or_is_wider_than_its_window() {
    looks("narrow_and_light_no_page_breaks_a_rule_or_is_wider_than_its_window", 360, false).await;
}

#[tokio::test]
async fn narrow_and_dark_no_page_breaks_a_rule_or_is_wider_than_its_window() {
    looks("narrow_and_dark_no_page_breaks_a_rule_or_is_wider_than_its_window", 360, true).await;
}
