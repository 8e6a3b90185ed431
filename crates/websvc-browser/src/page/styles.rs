//! Reading of computed styles, for the design of a page.

use serde_json::Value;

use super::open_page::Page;
use crate::error::BrowserError;

const READ_STYLES: &str = include_str!("read_styles.js");

/// The maximum number of elements that the script visits.
const MAX_VISITED: u32 = 8_000;

/// The maximum number of elements whose styles the script reads.
const MAX_STYLED: u32 = 650;

/// The time in milliseconds after which the script visits and reads no more elements. What it reads first matters most.
const MAX_MS: u32 = 200;

impl Page<'_> {
    /// Returns the computed styles of a bounded number of elements; `None` with a warning if the document breaks the
    /// script. Banners that the request blocks are hidden already.
    pub(super) async fn read_styles(&self) -> Result<Option<Value>, BrowserError> {
        let limits = [MAX_VISITED.into(), MAX_STYLED.into(), MAX_MS.into()];
        Ok(match self.call_function(READ_STYLES, &limits).await? {
            Ok(Value::Null) => None,
            Ok(styles) => Some(styles),
            Err(thrown) => {
                self.warn(format!("the styles of the page could not be read: {thrown}"));
                None
            }
        })
    }
}
