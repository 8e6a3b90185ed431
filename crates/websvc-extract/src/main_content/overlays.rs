//! Removes dialogs that lie over a page before its content is selected: consent to cookies, and closed windows.
//!
//! Their texts are long and look like content.

use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use html5ever::local_name;

/// Beginnings of the classes and IDs of the dialogs of consent managers.
const CONSENT_MANAGERS: [&str; 33] = [
    "onetrust-consent",
    "onetrust-banner",
    "onetrust-pc",
    "optanon",
    "ot-sdk-container",
    "cybotcookiebot",
    "cookiebot",
    "didomi-",
    "osano-cm",
    "qc-cmp",
    "usercentrics-",
    "cmplz-",
    "cky-consent",
    "cky-overlay",
    "cky-modal",
    "iubenda-cs",
    "truste-",
    "trustarc-",
    "fc-consent",
    "cookie-law-info",
    "cookie-notice",
    "cookie-consent",
    "cookie-banner",
    "cookieconsent",
    "cookiescript",
    "cli-modal",
    "moove_gdpr",
    "borlabs",
    "klaro",
    "termly-",
    "sp_message",
    "gdpr-cookie",
    "wt-cli-",
];

/// Kinds of elements over a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverlayKind {
    Consent,
    Window,
}

/// Excludes the dialogs from a view, except for windows that have most of its text.
pub(super) fn exclude(dom: &Dom, view: &mut ContentView) {
    let overlay = |id: NodeId| Some((id, overlay_kind(dom, id)?));
    let found: Vec<(NodeId, OverlayKind)> = view.nodes(dom).filter_map(overlay).collect();
    let (consent, windows): (Vec<_>, Vec<_>) = found
        .into_iter()
        .filter(|&(id, _)| !dom.has_page_content(id))
        .partition(|&(_, kind)| kind == OverlayKind::Consent);
    consent.iter().for_each(|&(id, _)| view.exclude(id));
    if windows.is_empty() {
        return;
    }
    let bytes = |view: &ContentView| -> usize { view.nodes(dom).map(|id| dom.text(id).trim().len()).sum() };
    let mut without = view.clone();
    windows.iter().for_each(|&(id, _)| without.exclude(id));
    if bytes(&without) * 2 >= bytes(view) {
        *view = without;
    }
}

fn overlay_kind(dom: &Dom, id: NodeId) -> Option<OverlayKind> {
    let NodeKind::Element(tag) = dom.kind(id) else { return None };
    if !matches!(tag, Tag::Div | Tag::Section | Tag::Aside | Tag::Dialog | Tag::Form | Tag::Other) {
        return None;
    }
    let (mut is_closed, mut is_modal) = (false, false);
    for (name, value) in dom.named_attributes(id) {
        match *name {
            local_name!("class") | local_name!("id") => {
                for word in value.split_ascii_whitespace() {
                    if is_consent_manager(word) {
                        return Some(OverlayKind::Consent);
                    }
                    is_modal |= word.eq_ignore_ascii_case("modal");
                }
            }
            local_name!("aria-hidden") => is_closed |= value == "true",
            local_name!("tabindex") => is_closed |= value == "-1",
            _ => {}
        }
    }
    // Shops put descriptions of products into elements with the role of a dialog.
    (is_modal && is_closed).then_some(OverlayKind::Window)
}

fn is_consent_manager(name: &str) -> bool {
    // Most names begin with another letter.
    let first = name.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    b"ocdquitfmbksgw".contains(&first)
        && CONSENT_MANAGERS
            .iter()
            .any(|prefix| prefix.as_bytes()[0] == first && crate::text::starts_with_ignore_case(name, prefix))
}
