//! The actions and references that make sense in the state of a run. The schema of a step offers no others, so that a small
//! model cannot open a page that has been read, or a page that is not listed.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Run;
use super::act::MAX_RANKED_LINKS;
use crate::decision::{ENDS, MAX_REF_CHARS, MAX_SCHEMA_TEXT_CHARS, MAX_WHY_CHARS};
use crate::page::Page;
use crate::pages::PageEntry;
use crate::tool::ToolKind;

/// The maximum number of references of a schema. With more, any reference may be named.
const MAX_REFERENCES: usize = 60;

/// The length of a request up to which a model counts as small, in characters, and the maximum number of references then.
const SMALL_INPUT_CHARS: usize = 8_000;
const FEW_REFERENCES: usize = 15;

/// The maximum number of pages and of unread references that the prompt names.
const MAX_NAMED: usize = 10;

/// The maximum length of [`Run::state_lines`], in characters.
pub(super) const STATE_CHARS: usize = 550;

/// The offer of a step.
#[derive(Debug)]
pub(super) struct Offer {
    /// The names of the actions.
    pub(super) actions: Vec<&'static str>,
    /// The references of results and links that have not been read.
    unread: Vec<String>,
    /// The references of the pages that are kept.
    pages: Vec<String>,
    /// The maximum number of references in the schema.
    max_references: usize,
}

impl Offer {
    /// Creates an offer without actions, for a model with this maximum length of a request.
    fn new(max_input_chars: usize) -> Self {
        let max_references =
            if max_input_chars < SMALL_INPUT_CHARS { FEW_REFERENCES } else { MAX_REFERENCES };
        Self { actions: Vec::new(), unread: Vec::new(), pages: Vec::new(), max_references }
    }

    /// Returns an offer whose schema is as long as one can be.
    pub(super) fn largest(max_input_chars: usize) -> Self {
        let offer = Self::new(max_input_chars);
        let unread = (0..offer.max_references).map(|number| format!("l{}", number + 100)).collect();
        let actions = ["search", "map", "open", "crawl", "interact", "find", "links", "more", "collect"];
        Self { actions: actions.into_iter().chain(ENDS).collect(), unread, ..offer }
    }

    /// Returns the schema of an answer. Models write in its order, so the reason comes before the action.
    pub(super) fn schema(&self) -> Value {
        let is_end = self.actions.iter().all(|action| ENDS.contains(action));
        let references: Vec<&str> = self.unread.iter().chain(&self.pages).map(String::as_str).collect();
        let reference = match references.len() {
            // A model that knows nothing yet may name any URL.
            0 if !is_end => json!({ "type": "string", "maxLength": MAX_REF_CHARS }),
            count if count > self.max_references => json!({ "type": "string", "maxLength": MAX_REF_CHARS }),
            _ if is_end => json!({ "type": "string", "enum": [""] }),
            _ => {
                let all: Vec<&str> = references.into_iter().chain([""]).collect();
                json!({ "type": "string", "enum": all })
            }
        };
        json!({
            "type": "object",
            "properties": {
                "why": { "type": "string", "maxLength": MAX_WHY_CHARS },
                "action": { "type": "string", "enum": self.actions },
                "ref": reference,
                "text": { "type": "string", "maxLength": MAX_SCHEMA_TEXT_CHARS },
            },
            "required": ["why", "action", "ref", "text"],
            "additionalProperties": false,
        })
    }
}

impl Run<'_> {
    /// Returns the offer of a step whose content was made. In the last step, only the end is possible.
    pub(super) fn offer(&self, is_last: bool) -> Offer {
        let mut offer = Offer::new(self.requests.model.max_input_chars());
        if !is_last {
            let kept = self.pages.kept();
            offer.pages = kept.map(|(index, _)| format!("p{}", index + 1)).collect();
            offer.unread = self.unread_references();
            // Small models prefer what comes first: what was read comes before what would have to be read.
            self.add_memory_actions(&mut offer);
            self.add_tools(&mut offer);
        }
        if self.can_answer() {
            offer.actions.push("done");
        }
        offer.actions.push("impossible");
        offer
    }

    fn add_tools(&self, offer: &mut Offer) {
        let tools = self.environment.tools();
        let knows_nothing = offer.unread.is_empty() && offer.pages.is_empty();
        for (name, tool, makes_sense) in [
            ("search", ToolKind::Search, true),
            ("map", ToolKind::Map, true),
            ("open", ToolKind::Scrape, knows_nothing || !offer.unread.is_empty()),
            ("crawl", ToolKind::Crawl, knows_nothing || !offer.unread.is_empty()),
            ("interact", ToolKind::Interact, true),
        ] {
            if makes_sense && tools.contains(&tool) {
                offer.actions.push(name);
            }
        }
    }

    /// Adds the actions on pages that were read, each if there is a page for it.
    fn add_memory_actions(&self, offer: &mut Offer) {
        let kept = || self.pages.kept().map(|(index, page)| (&self.pages.entries()[index], page));
        let reads = self.environment.tools().contains(&ToolKind::Scrape);
        for (name, makes_sense) in [
            ("collect", kept().any(|(entry, _)| !is_collected(entry))),
            ("find", kept().map(|(_, page)| page.passages.len()).sum::<usize>() > self.shown.passages),
            ("links", reads && kept().any(|(_, page)| self.has_unread_link(page))),
            ("more", kept().any(|(entry, page)| entry.seen < page.passages.len())),
        ] {
            if makes_sense {
                offer.actions.push(name);
            }
        }
    }

    /// Returns the references of what the content lists and the run may still read.
    fn unread_references(&self) -> Vec<String> {
        let mut indexes: Vec<usize> = Vec::new();
        for index in &self.shown.targets {
            if !indexes.contains(index) && self.is_unread(&self.targets.get(*index).url) {
                indexes.push(*index);
            }
        }
        indexes.into_iter().map(|index| self.targets.get(index).reference()).collect()
    }

    /// Returns whether a page has a link among those that can be listed to a URL that may be read and was not.
    fn has_unread_link(&self, page: &Page) -> bool {
        page.links.iter().take(MAX_RANKED_LINKS).any(|link| self.is_unread(&link.url))
    }

    /// Returns whether a URL may be read and was not read, and has not failed either.
    fn is_unread(&self, url: &str) -> bool {
        self.pages.find(url).is_none() && !self.has_failed(url) && self.environment.can_open(url)
    }

    /// Returns whether all that the run may read was read and collected, so that no decision is left but to answer.
    pub(super) fn is_everything_collected(&self) -> bool {
        let reads_only = self.environment.tools().iter().all(|tool| *tool == ToolKind::Scrape);
        reads_only
            && self.pages.kept().next().is_some()
            && self.pages.kept().all(|(index, _)| is_collected(&self.pages.entries()[index]))
            && !self.pages.kept().any(|(_, page)| self.has_unread_link(page))
            && !self.targets.urls().any(|url| self.is_unread(url))
    }

    /// Returns the state of the run and what may be done next, in words of the service.
    pub(super) fn state_lines(&self, offer: &Offer) -> String {
        let mut text = String::new();
        let pages: Vec<String> = self
            .pages
            .kept()
            .take(MAX_NAMED)
            .map(|(index, page)| {
                let entry = &self.pages.entries()[index];
                let shown = if entry.seen < page.passages.len() { "shown in part" } else { "shown" };
                let collected = if is_collected(entry) { "collected" } else { "not collected" };
                format!("p{} ({shown}, {collected})", index + 1)
            })
            .collect();
        if !pages.is_empty() {
            let _ = write!(text, "\nAlready read: {}.", pages.join(", "));
        }
        if offer.actions.contains(&"open") && !offer.unread.is_empty() {
            let unread: Vec<&str> = offer.unread.iter().take(MAX_NAMED).map(String::as_str).collect();
            let _ = write!(text, "\nNot read yet: {}.", unread.join(", "));
        }
        let _ = write!(text, "\nPossible actions: {}.", offer.actions.join(", "));
        text
    }
}

fn is_collected(entry: &PageEntry) -> bool {
    entry.collected.iter().all(|is_collected| *is_collected)
}
