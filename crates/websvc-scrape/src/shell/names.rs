//! Names by which frameworks, templates and habits of authors are known in HTML.

/// The `id` of the element that frameworks and their templates render into.
const ROOT_IDS: &[&str] = &[
    "app",
    "root",
    "__next",
    "__nuxt",
    "___gatsby",
    "q-app",
    "svelte",
    "main-app",
    "app-root",
    "react-root",
    "react-app",
    "vue-app",
    "ember-app",
    "application",
    "mount",
    "app-mount",
    "page-root",
    "flutter_app",
];

/// Custom elements that applications render into.
const ROOT_ELEMENTS: &[&str] = &["my-app", "ion-app", "flt-glass-pane"];

/// Last parts of the names of such elements.
const ROOT_ENDINGS: &[&str] = &["-app", "-root", "-shell", "-page", "-view", "-outlet"];

/// Attributes of the element that a framework renders into.
const ROOT_ATTRIBUTES: &[&str] =
    &["ng-app", "ng-view", "ui-view", "data-v-app", "data-reactroot", "ng-version"];

/// The `id` of the element around the content of a page.
const MAIN_IDS: &[&str] = &["main", "content", "main-content", "maincontent", "page-content", "primary"];

/// Words in the `id` of a container that stands for content.
const CONTENT_WORDS: &[&str] = &[
    "articles",
    "catalog",
    "catalogue",
    "container",
    "content",
    "dashboard",
    "data",
    "feed",
    "grid",
    "items",
    "list",
    "listing",
    "listings",
    "main",
    "news",
    "outlet",
    "page",
    "posts",
    "products",
    "results",
    "stories",
    "table",
    "timeline",
    "view",
    "wrapper",
];

/// Words in the `id` of a container that is empty until something happens, or forever.
const ASIDE_WORDS: &[&str] = &[
    "ad",
    "ads",
    "alert",
    "alerts",
    "banner",
    "captcha",
    "chat",
    "comment",
    "comments",
    "consent",
    "cookie",
    "dialog",
    "disqus",
    "error",
    "errors",
    "fb",
    "flash",
    "lightbox",
    "map",
    "message",
    "messages",
    "modal",
    "newsletter",
    "notification",
    "notifications",
    "overlay",
    "popup",
    "recaptcha",
    "share",
    "snackbar",
    "status",
    "toast",
    "toasts",
    "tooltip",
    "turnstile",
    "video",
    "widget",
];

/// Words in the class or `id` of an element whose links lead around the site, or that asks about cookies.
const CHROME_WORDS: &[&str] = &[
    "breadcrumb",
    "breadcrumbs",
    "cookie",
    "cookies",
    "consent",
    "footer",
    "gdpr",
    "menu",
    "menubar",
    "nav",
    "navbar",
    "navigation",
    "sidebar",
    "sidenav",
    "topbar",
];

/// Words in the class or `id` of an element that turns while something is loaded.
const SPINNER_WORDS: &[&str] =
    &["loader", "loading", "preloader", "spinner", "splash", "splashscreen", "progress"];

/// Attributes that repeat an element for each item of a list, in the page's own markup.
const REPEATING: &[&str] = &["v-for", "ng-repeat", "data-ng-repeat", "*ngfor", ":for", "x-for"];

/// Attributes that put a value into an element.
const FILLING: &[&str] = &["v-text", "v-html", "x-text", "x-html", "ng-bind", "ng-bind-html"];

/// Beginnings of a text that is there while the page loads (in lower case).
const LOADING: &[&str] = &[
    "loading",
    "please wait",
    "one moment",
    "just a second",
    "initializing",
    "initialising",
    "starting",
    "fetching",
    "wird geladen",
    "lädt",
    "lade",
    "bitte warten",
    "chargement",
    "cargando",
    "carregando",
    "caricamento",
    "laden",
    "загрузка",
    "加载中",
    "載入中",
    "読み込み中",
    "로딩",
];

/// Phrases of pages that do nothing without scripts, in lower case.
const NEEDS_SCRIPT: &[&str] = &[
    "enable javascript",
    "enable java script",
    "javascript enabled",
    "enabled javascript",
    "javascript is required",
    "javascript required",
    "requires javascript",
    "need javascript",
    "needs javascript",
    "without javascript",
    "javascript to run",
    "javascript is disabled",
    "javascript is not enabled",
    "turn on javascript",
    "activate javascript",
    "javascript aktivieren",
    "activer javascript",
    "habilitar javascript",
    "habilite o javascript",
];

/// Words in such a sentence when only a part of the page needs scripts, in lower case.
const PART_OF_PAGE: &[&str] = &[
    "comment",
    "disqus",
    "best experience",
    "better experience",
    "full experience",
    "full functionality",
    "some features",
    "some parts",
    "all features",
    "this video",
    "this map",
    "the map",
    "the video",
    "captcha",
    "view the form",
];

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns whether one of the words of a class or `id` is in a list.
fn has_word(value: &[u8], words: &[&str]) -> bool {
    value.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| is_one_of(word, words))
}

pub(super) fn is_root_id(id: &[u8]) -> bool {
    is_one_of(id, ROOT_IDS)
}

pub(super) fn is_root_element(name: &[u8]) -> bool {
    let ends_so = |ending: &&str| {
        name.len()
            .checked_sub(ending.len())
            .is_some_and(|at| name[at..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    is_one_of(name, ROOT_ELEMENTS) || ROOT_ENDINGS.iter().any(ends_so) || name.get(..4) == Some(b"app-")
}

pub(super) fn is_root_attribute(name: &[u8]) -> bool {
    is_one_of(name, ROOT_ATTRIBUTES)
}

pub(super) fn is_main_id(id: &[u8]) -> bool {
    is_one_of(id, MAIN_IDS)
}

pub(super) fn is_for_content(id: &[u8]) -> bool {
    has_word(id, CONTENT_WORDS)
}

pub(super) fn is_beside_content(id: &[u8]) -> bool {
    has_word(id, ASIDE_WORDS)
}

pub(super) fn is_chrome(value: &[u8]) -> bool {
    has_word(value, CHROME_WORDS)
}

pub(super) fn is_spinner(value: &[u8]) -> bool {
    has_word(value, SPINNER_WORDS)
}

/// Returns whether a class is that of a grey shape in the place of content.
pub(super) fn is_skeleton(value: &[u8]) -> bool {
    let words = value.split(|byte| !byte.is_ascii_alphanumeric());
    words.filter(|word| word.len() >= 7).any(|word| {
        word.eq_ignore_ascii_case(b"placeholder")
            || ["skeleton", "shimmer"].iter().any(|part| {
                word.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
            })
    })
}

pub(super) fn repeats(attribute: &[u8]) -> bool {
    is_one_of(attribute, REPEATING)
}

pub(super) fn fills(attribute: &[u8]) -> bool {
    is_one_of(attribute, FILLING)
}

/// Returns whether a text is there only while the page loads.
pub(super) fn is_loading(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    text.split_whitespace().count() <= 8 && LOADING.iter().any(|start| text.starts_with(start))
}

/// Returns whether a text in lower case says that the page does nothing without scripts.
pub(super) fn asks_for_scripts(text: &str) -> bool {
    NEEDS_SCRIPT.iter().any(|words| text.contains(words))
        && !PART_OF_PAGE.iter().any(|part| text.contains(part))
}

/// Returns whether `part` occurs in `text`.
pub(super) fn contains(text: &[u8], part: &str) -> bool {
    memchr::memmem::find(text, part.as_bytes()).is_some()
}
