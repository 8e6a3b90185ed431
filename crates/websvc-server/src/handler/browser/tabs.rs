//! The tabs of a session as one viewer sees them: which there are, and which one it shows.
//!
//! The view follows windows that its tab opens. It follows other new tabs, such as those of a program, until its viewer has
//! chosen a tab.

use serde_json::{Value, json};

/// The maximum number of listed tabs. A session has fewer.
const MAX_TABS: usize = 32;
/// The maximum length of a label, in characters.
const MAX_LABEL_CHARS: usize = 120;

/// The tabs of a session.
#[derive(Debug)]
pub(super) struct Tabs {
    open: Vec<Tab>,
    /// The target of the tab that the view shows.
    current: String,
    /// True once the viewer has chosen a tab.
    has_chosen: bool,
    /// True once the tabs that were open before are listed.
    is_listed: bool,
}

/// An open tab.
#[derive(Debug, PartialEq, Eq)]
struct Tab {
    target: String,
    label: String,
    opener: Option<String>,
}

/// The effect of an event on the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TabChange {
    Nothing,
    /// The list of the tabs is another one.
    List,
    /// The view has to show another tab.
    Current,
}

impl Tabs {
    /// Creates the list of a view that shows a target.
    pub(super) fn new(current: String) -> Self {
        Self { open: Vec::new(), current, has_chosen: false, is_listed: false }
    }

    /// Returns the target that the view shows.
    pub(super) fn current(&self) -> &str {
        &self.current
    }

    /// Returns whether a target is an open tab.
    pub(super) fn is_open(&self, target: &str) -> bool {
        self.open.iter().any(|tab| tab.target == target)
    }

    /// Records that the tabs that were open before are listed: those that follow are new. Chromium lists them in any order,
    /// so the tab in view becomes the first one. It may have been closed meanwhile.
    pub(super) fn set_listed(&mut self) -> TabChange {
        self.is_listed = true;
        if let Some(index) = self.open.iter().position(|tab| tab.target == self.current) {
            let tab = self.open.remove(index);
            self.open.insert(0, tab);
            return TabChange::List;
        }
        match self.open.first() {
            Some(first) => {
                self.current.clone_from(&first.target);
                TabChange::Current
            }
            None => TabChange::Nothing,
        }
    }

    /// Handles `Target.targetCreated`.
    pub(super) fn on_created(&mut self, info: &Value) -> TabChange {
        let Some(tab) = Tab::from_info(info) else { return TabChange::Nothing };
        if self.is_open(&tab.target) || self.open.len() >= MAX_TABS {
            return TabChange::Nothing;
        }
        let is_followed = self.is_listed && (!self.has_chosen || tab.opener.as_ref() == Some(&self.current));
        if is_followed {
            self.current.clone_from(&tab.target);
        }
        self.open.push(tab);
        if is_followed { TabChange::Current } else { TabChange::List }
    }

    /// Handles `Target.targetInfoChanged`.
    pub(super) fn on_changed(&mut self, info: &Value) -> TabChange {
        let Some(changed) = Tab::from_info(info) else { return TabChange::Nothing };
        match self.open.iter_mut().find(|tab| tab.target == changed.target) {
            Some(tab) if tab.label != changed.label => {
                tab.label = changed.label;
                TabChange::List
            }
            Some(_) | None => TabChange::Nothing,
        }
    }

    /// Handles `Target.targetDestroyed`. The view then shows the tab that opened it, or its neighbor. Returns `None` if no
    /// tab is left.
    pub(super) fn on_destroyed(&mut self, target: &str) -> Option<TabChange> {
        let Some(index) = self.open.iter().position(|tab| tab.target == target) else {
            return Some(TabChange::Nothing);
        };
        let closed = self.open.remove(index);
        if self.current != closed.target {
            return Some(TabChange::List);
        }
        let opener = closed.opener.filter(|opener| self.is_open(opener));
        let neighbor = || self.open.get(index.saturating_sub(1)).map(|tab| tab.target.clone());
        self.current = opener.or_else(neighbor)?;
        Some(TabChange::Current)
    }

    /// Shows the tab that the viewer chooses.
    pub(super) fn choose(&mut self, target: &str) -> TabChange {
        if !self.is_open(target) {
            return TabChange::Nothing;
        }
        self.has_chosen = true;
        if self.current == target {
            return TabChange::Nothing;
        }
        target.clone_into(&mut self.current);
        TabChange::Current
    }

    /// Returns the message about the tabs for the page of the viewer.
    pub(super) fn to_message(&self) -> Value {
        let tabs =
            self.open.iter().map(|Tab { target, label, opener: _ }| json!({"id": target, "label": label}));
        json!({"kind": "tabs", "tabs": tabs.collect::<Vec<_>>(), "current": self.current})
    }
}

impl Tab {
    /// Reads a `Target.TargetInfo`; `None` for a worker or a frame.
    fn from_info(info: &Value) -> Option<Self> {
        if info["type"] != "page" {
            return None;
        }
        let title = info["title"].as_str().unwrap_or_default().trim();
        let url = info["url"].as_str().unwrap_or_default();
        let label = match (title, url) {
            ("" | "about:blank", "" | "about:blank") => "New tab",
            ("", url) => url,
            (title, _) => title,
        };
        Some(Self {
            target: info["targetId"].as_str()?.to_owned(),
            label: label.chars().take(MAX_LABEL_CHARS).collect(),
            opener: info["openerId"].as_str().map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(target: &str, opener: Option<&str>) -> Value {
        json!({"targetId": target, "type": "page", "title": target, "url": "http://a.test/", "openerId": opener})
    }

    /// Returns the list of a view of the first of two tabs.
    fn two_tabs() -> Tabs {
        let mut tabs = Tabs::new("A".to_owned());
        assert_eq!(tabs.on_created(&info("A", None)), TabChange::List);
        assert_eq!(tabs.on_created(&info("B", None)), TabChange::List);
        assert_eq!((tabs.set_listed(), tabs.current()), (TabChange::List, "A"));
        tabs
    }

    #[test]
    fn tab_in_view_is_listed_first() {
        let mut tabs = Tabs::new("B".to_owned());
        tabs.on_created(&info("A", None));
        tabs.on_created(&info("B", None));
        tabs.set_listed();
        tabs.on_created(&info("C", None));
        let listed = tabs.to_message();
        let ids: Vec<&str> =
            listed["tabs"].as_array().unwrap().iter().filter_map(|tab| tab["id"].as_str()).collect();
        assert_eq!(ids, ["B", "A", "C"]);
    }

    #[test]
    fn tab_that_was_closed_before_the_list_is_replaced() {
        let mut tabs = Tabs::new("closed".to_owned());
        tabs.on_created(&info("A", None));
        assert_eq!((tabs.set_listed(), tabs.current()), (TabChange::Current, "A"));
    }

    #[test]
    fn new_tabs_are_followed_until_the_viewer_chooses_one() {
        let mut tabs = two_tabs();
        assert_eq!(tabs.on_created(&info("C", None)), TabChange::Current);
        assert_eq!(tabs.choose("A"), TabChange::Current);
        assert_eq!(tabs.on_created(&info("D", Some("B"))), TabChange::List);
        assert_eq!(tabs.current(), "A");
        // A window of the tab in view, which the viewer may have opened.
        assert_eq!(tabs.on_created(&info("E", Some("A"))), TabChange::Current);
        assert_eq!(tabs.current(), "E");
    }

    #[test]
    fn closed_tab_is_replaced_by_its_opener_or_its_neighbor() {
        let mut tabs = two_tabs();
        tabs.on_created(&info("C", Some("A")));
        assert_eq!(tabs.on_destroyed("C"), Some(TabChange::Current));
        assert_eq!(tabs.current(), "A");
        tabs.choose("B");
        assert_eq!(tabs.on_destroyed("unknown"), Some(TabChange::Nothing));
        assert_eq!(tabs.on_destroyed("B"), Some(TabChange::Current));
        assert_eq!(tabs.current(), "A");
        tabs.on_created(&info("D", None));
        assert_eq!(tabs.on_destroyed("D"), Some(TabChange::List));
        assert_eq!(tabs.on_destroyed("A"), None);
    }

    #[test]
    fn unknown_tab_cannot_be_chosen() {
        let mut tabs = two_tabs();
        assert_eq!(tabs.choose("X"), TabChange::Nothing);
        assert_eq!(tabs.choose("A"), TabChange::Nothing);
        assert_eq!(tabs.current(), "A");
    }

    #[test]
    fn labels_are_short_titles_or_addresses() {
        let label = |title: &str, url: &str| {
            let info = json!({"targetId": "A", "type": "page", "title": title, "url": url});
            Tab::from_info(&info).unwrap().label
        };
        assert_eq!(label(" Tea ", "http://a.test/"), "Tea");
        assert_eq!(label("", "http://a.test/"), "http://a.test/");
        assert_eq!(label("", "about:blank"), "New tab");
        assert_eq!(label("about:blank", "about:blank"), "New tab");
        assert_eq!(label(&"é".repeat(500), "http://a.test/").chars().count(), MAX_LABEL_CHARS);
        assert_eq!(Tab::from_info(&json!({"targetId": "A", "type": "service_worker"})), None);
    }

    #[test]
    fn changed_title_is_listed_once() {
        let mut tabs = two_tabs();
        let renamed = json!({"targetId": "B", "type": "page", "title": "<b>Tea</b>", "url": ""});
        assert_eq!(tabs.on_changed(&renamed), TabChange::List);
        assert_eq!(tabs.on_changed(&renamed), TabChange::Nothing);
        assert_eq!(tabs.on_changed(&info("X", None)), TabChange::Nothing);
        let expected = json!([{"id": "A", "label": "A"}, {"id": "B", "label": "<b>Tea</b>"}]);
        assert_eq!(tabs.to_message()["tabs"], expected);
    }
}
