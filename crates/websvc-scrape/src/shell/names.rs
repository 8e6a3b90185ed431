//! Names in HTML by which frameworks, templates and common patterns are recognized.

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

/// Suffixes of the names of such elements.
const ROOT_SUFFIXES: &[&str] = &["-app", "-root", "-shell", "-page", "-view", "-outlet"];

/// Attributes of the element that a framework renders into.
const ROOT_ATTRIBUTES: &[&str] =
    &["ng-app", "ng-view", "ui-view", "data-v-app", "data-reactroot", "ng-version"];

/// The `id` of the element around the content of a page.
const MAIN_IDS: &[&str] = &["main", "content", "main-content", "maincontent", "page-content", "primary"];

/// Words in the `id` of a container for content.
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

/// Words in the `id` of a container that is not for the main content and often stays empty.
const SECONDARY_WORDS: &[&str] = &[
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

/// Words in the class or `id` of navigation, and of cookie banners.
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

/// Words in the class or `id` of an element that is shown while something is loaded.
const SPINNER_WORDS: &[&str] =
    &["loader", "loading", "preloader", "spinner", "splash", "splashscreen", "progress"];

/// Attributes of frameworks that repeat an element for each item of a list.
const REPEATING_ATTRIBUTES: &[&str] = &["v-for", "ng-repeat", "data-ng-repeat", "*ngfor", ":for", "x-for"];

/// Attributes of frameworks that put a value into an element.
const BINDING_ATTRIBUTES: &[&str] = &["v-text", "v-html", "x-text", "x-html", "ng-bind", "ng-bind-html"];

/// Beginnings of messages that are shown while a page loads (in lower case).
const LOADING_MESSAGES: &[&str] = &[
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

/// Phrases in messages that a page needs scripts (in lower case).
const SCRIPT_PHRASES: &[&str] = &[
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

/// Phrases in such messages if only a part of the page needs scripts (in lower case).
const PARTIAL_PHRASES: &[&str] = &[
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
    names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
}

/// Returns whether a class or `id` contains one of these words.
fn has_word(value: &[u8], words: &[&str]) -> bool {
    value.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| is_one_of(word, words))
}

/// Returns whether an `id` is that of an element that frameworks render into.
pub(super) fn is_root_id(id: &[u8]) -> bool {
    is_one_of(id, ROOT_IDS)
}

/// Returns whether a custom element is one that applications render into.
pub(super) fn is_root_element(name: &[u8]) -> bool {
    let has_suffix = |suffix: &&str| {
        name.len()
            .checked_sub(suffix.len())
            .is_some_and(|at| name[at..].eq_ignore_ascii_case(suffix.as_bytes()))
    };
    is_one_of(name, ROOT_ELEMENTS) || ROOT_SUFFIXES.iter().any(has_suffix) || name.get(..4) == Some(b"app-")
}

/// Returns whether an attribute marks an element that a framework renders into.
pub(super) fn is_root_attribute(name: &[u8]) -> bool {
    is_one_of(name, ROOT_ATTRIBUTES)
}

/// Returns whether an `id` is that of the element around the main content.
pub(super) fn is_main_id(id: &[u8]) -> bool {
    is_one_of(id, MAIN_IDS)
}

/// Returns whether an `id` is that of a container for content.
pub(super) fn is_for_content(id: &[u8]) -> bool {
    has_word(id, CONTENT_WORDS)
}

/// Returns whether an `id` is that of a container that is not for the main content.
pub(super) fn is_secondary(id: &[u8]) -> bool {
    has_word(id, SECONDARY_WORDS)
}

/// Returns whether a class or `id` is that of navigation or of a cookie banner.
pub(super) fn is_chrome(value: &[u8]) -> bool {
    has_word(value, CHROME_WORDS)
}

/// Returns whether a class or `id` is that of an element that is shown while something is loaded.
pub(super) fn is_spinner(value: &[u8]) -> bool {
    has_word(value, SPINNER_WORDS)
}

/// Returns whether a class or `id` is that of a skeleton: a grey shape in place of content.
pub(super) fn is_skeleton(value: &[u8]) -> bool {
    let words = value.split(|byte| !byte.is_ascii_alphanumeric());
    words.filter(|word| word.len() >= 7).any(|word| {
        word.eq_ignore_ascii_case(b"placeholder")
            || ["skeleton", "shimmer"].iter().any(|part| {
                word.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
            })
    })
}

/// Returns whether an attribute repeats its element for each item of a list.
pub(super) fn is_repeating(attribute: &[u8]) -> bool {
    is_one_of(attribute, REPEATING_ATTRIBUTES)
}

/// Returns whether an attribute puts a value into its element.
pub(super) fn is_binding(attribute: &[u8]) -> bool {
    is_one_of(attribute, BINDING_ATTRIBUTES)
}

/// Returns whether a text (in lower case) is a message that is shown while the page loads.
pub(super) fn is_loading(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    text.split_whitespace().count() <= 8 && LOADING_MESSAGES.iter().any(|start| text.starts_with(start))
}

/// Returns whether a text (in lower case) is a message that the whole page needs scripts.
pub(super) fn asks_for_scripts(text: &str) -> bool {
    SCRIPT_PHRASES.iter().any(|phrase| text.contains(phrase))
        && !PARTIAL_PHRASES.iter().any(|phrase| text.contains(phrase))
}

/// Returns whether `part` occurs in `text`.
pub(super) fn contains(text: &[u8], part: &str) -> bool {
    memchr::memmem::find(text, part.as_bytes()).is_some()
}
