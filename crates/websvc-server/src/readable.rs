//! The parts of stored pages that a key may read. A key may be restricted to formats, and another key of its team may have
//! requested more.

use std::sync::Arc;

use bytes::Bytes;
use websvc_store::{Caller, KeyRights};
use websvc_types::action::ActionResults;
use websvc_types::job::JobDocument;
use websvc_types::monitor::{MonitorCheckPage, MonitorPageDiff};
use websvc_types::{PageContent, ScrapeResponse};

/// The formats that a caller may read. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ReadableFormats {
    /// The rights of the key; `None` without authentication.
    rights: Option<Arc<KeyRights>>,
}

/// The names of the fields that were left out of a page.
type LeftOut = Vec<&'static str>;

impl ReadableFormats {
    /// Returns the formats that a caller may read.
    pub(crate) fn from_caller(caller: Option<&Caller>) -> Self {
        Self { rights: caller.map(|caller| Arc::clone(&caller.rights)) }
    }

    /// Returns whether the caller may read all formats.
    pub(crate) fn is_all(&self) -> bool {
        self.rights.as_ref().is_none_or(|rights| rights.formats.is_none())
    }

    fn has(&self, format: &str) -> bool {
        self.rights.as_ref().is_none_or(|rights| rights.allows_format(format))
    }

    /// Returns whether the caller may read changes of the text of pages.
    fn has_text_changes(&self) -> bool {
        self.has("markdown") || self.has("changeTracking")
    }

    /// Returns whether the caller may read changes of extracted data, and the data.
    fn has_data_changes(&self) -> bool {
        self.has("json") || self.has("changeTracking")
    }

    /// Returns whether the caller may read all that a monitor reports.
    pub(crate) fn has_changes(&self) -> bool {
        self.has_text_changes() && self.has_data_changes()
    }

    /// Returns the stored response of a scrape as the caller may read it.
    ///
    /// # Errors
    /// The stored response is not valid.
    pub(crate) fn scrape_response(&self, json: &[u8]) -> serde_json::Result<Bytes> {
        let mut response: ScrapeResponse = serde_json::from_slice(json)?;
        if let Some(warning) = self.limit_page(&mut response.data) {
            add_warning(&mut response.warning, &warning);
            response.data.warning.clone_from(&response.warning);
        }
        serde_json::to_vec(&response).map(Bytes::from)
    }

    /// Returns a stored document of a job as the caller may read it.
    ///
    /// # Errors
    /// The stored document is not valid.
    pub(crate) fn document(&self, json: &[u8]) -> serde_json::Result<JobDocument> {
        let mut document: JobDocument = serde_json::from_slice(json)?;
        if !self.is_all()
            && let Some(warning) = self.limit_page(&mut document.content)
        {
            add_warning(&mut document.warning, &warning);
        }
        Ok(document)
    }

    /// Returns the JSON of a stored document of a job as the caller may read it.
    ///
    /// # Errors
    /// The stored document is not valid.
    pub(crate) fn document_json(&self, json: Vec<u8>) -> serde_json::Result<Vec<u8>> {
        if self.is_all() { Ok(json) } else { serde_json::to_vec(&self.document(&json)?) }
    }

    /// Returns a page of a check of a monitor as the caller may read it. A judgment quotes what was compared, so it is left
    /// out with any of it.
    pub(crate) fn check_page(&self, mut page: MonitorCheckPage) -> MonitorCheckPage {
        let has_data = page.snapshot.is_some();
        let mut is_limited = false;
        if let Some(MonitorPageDiff { text, json }) = &mut page.diff {
            // Without extracted data, both are changes of the text.
            let is_json_readable =
                if has_data || text.is_none() { self.has_data_changes() } else { self.has_text_changes() };
            is_limited |= take_unless(self.has_text_changes(), text);
            is_limited |= take_unless(is_json_readable, json);
        }
        is_limited |= take_unless(self.has_data_changes(), &mut page.snapshot);
        if is_limited {
            page.diff = page.diff.filter(|diff| diff.text.is_some() || diff.json.is_some());
            page.judgment = None;
        }
        page
    }

    /// Removes what the caller may not read from a page, and returns a warning that names it.
    fn limit_page(&self, page: &mut PageContent) -> Option<String> {
        let left_out = self.remove_unreadable(page);
        (!left_out.is_empty()).then(|| {
            let fields = left_out.join(", ");
            format!("{fields} left out: the key of this request does not allow the formats")
        })
    }

    fn remove_unreadable(&self, page: &mut PageContent) -> LeftOut {
        // Destructured, so that the compiler finds this place when a field is added.
        let PageContent {
            markdown,
            html,
            raw_html,
            links,
            images,
            screenshot,
            audio,
            video,
            videos,
            summary,
            json,
            answer,
            highlights,
            highlight_passages,
            change_tracking,
            branding,
            product,
            menu,
            attributes,
            pages,
            blocks,
            raw_base64,
            actions,
            metadata: _,
            warning: _,
        } = page;
        let mut fields = Fields { formats: self, left_out: LeftOut::new() };
        fields.limit("markdown", "markdown", markdown);
        fields.limit("html", "html", html);
        fields.limit("rawHtml", "rawHtml", raw_html);
        fields.limit("links", "links", links);
        fields.limit("images", "images", images);
        fields.limit("screenshot", "screenshot", screenshot);
        fields.limit("audio", "audio", audio);
        fields.limit("video", "video", video);
        fields.limit("video", "videos", videos);
        fields.limit("summary", "summary", summary);
        fields.limit("json", "json", json);
        fields.limit("question", "answer", answer);
        fields.limit("highlights", "highlights", highlights);
        fields.limit("highlights", "highlightPassages", highlight_passages);
        fields.limit("changeTracking", "changeTracking", change_tracking);
        fields.limit("branding", "branding", branding);
        fields.limit("product", "product", product);
        fields.limit("menu", "menu", menu);
        fields.limit("attributes", "attributes", attributes);
        fields.limit("markdown", "pages", pages);
        fields.limit("markdown", "blocks", blocks);
        fields.limit("rawBase64", "rawBase64", raw_base64);
        if let Some(ActionResults { screenshots, scrapes, javascript_returns, pdfs }) = actions {
            // The formats are those that a request for the actions needs (`authorize_page`).
            fields.limit("screenshot", "actions.screenshots", screenshots);
            fields.limit("rawHtml", "actions.scrapes", scrapes);
            fields.limit("rawHtml", "actions.javascriptReturns", javascript_returns);
            fields.limit("screenshot", "actions.pdfs", pdfs);
        }
        if actions.as_ref() == Some(&ActionResults::default()) {
            *actions = None;
        }
        fields.left_out
    }
}

/// The fields of a page that are left out.
struct Fields<'a> {
    formats: &'a ReadableFormats,
    left_out: LeftOut,
}

impl Fields<'_> {
    /// Removes a field that contains a format which the caller may not read.
    fn limit<T: Default + PartialEq>(&mut self, format: &str, name: &'static str, field: &mut T) {
        if take_unless(self.formats.has(format), field) {
            self.left_out.push(name);
        }
    }
}

/// Removes the content of a field that is not readable, and returns whether it had any.
fn take_unless<T: Default + PartialEq>(is_readable: bool, field: &mut T) -> bool {
    !is_readable && std::mem::take(field) != T::default()
}

fn add_warning(warning: &mut Option<String>, text: &str) {
    *warning = Some(match warning.take() {
        Some(earlier) => format!("{earlier}; {text}"),
        None => text.to_owned(),
    });
}

#[cfg(test)]
mod tests;
