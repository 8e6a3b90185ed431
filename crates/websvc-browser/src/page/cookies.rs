//! The cookies of a page's context: taken out of it, and put into it.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::rendered_page::SetCookie;
use crate::state::State;
use crate::state::cookies::{CALLERS, as_given, is_alive, is_same};

impl Page<'_> {
    /// Returns the cookies of the context.
    pub(super) async fn cookies(&self) -> Result<Vec<SetCookie>, BrowserError> {
        let context = json!({"browserContextId": self.context.id});
        let mut answer = self.process.cdp().call("", "Storage.getCookies", context).await?;
        let text = |cookie: &mut Value, name: &str| match cookie[name].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let cookies = answer["cookies"].as_array_mut().into_iter().flatten();
        Ok(cookies
            .map(|cookie| SetCookie {
                name: text(cookie, "name"),
                value: text(cookie, "value"),
                domain: text(cookie, "domain"),
                path: text(cookie, "path"),
            })
            .collect())
    }

    /// Gives the context the cookies of a state that have not expired.
    pub(super) async fn give_cookies(&self, state: &State) -> Result<(), CdpError> {
        let now = SystemTime::now();
        let cookies: Vec<Value> =
            state.cookies.iter().filter(|cookie| is_alive(cookie, now)).map(as_given).collect();
        if cookies.is_empty() {
            return Ok(());
        }
        match self.set_cookies(&json!(cookies)).await {
            Err(CdpError::Refused { .. }) => {}
            outcome => return outcome,
        }
        // One that this Chromium does not take must not keep the others out.
        let mut refused = 0;
        for cookie in cookies {
            match self.set_cookies(&json!([cookie])).await {
                Ok(()) => {}
                Err(CdpError::Refused { .. }) => refused += 1,
                Err(error) => return Err(error),
            }
        }
        self.warn(format!("{refused} cookies of the profile could not be restored"));
        Ok(())
    }

    async fn set_cookies(&self, cookies: &Value) -> Result<(), CdpError> {
        let params = json!({"cookies": cookies, "browserContextId": self.context_id()});
        self.browser_call("Storage.setCookies", params).await.map(drop)
    }

    /// Returns the cookies of the context but those that only the caller gave. One of those that stands where the state
    /// had another leaves that as it was.
    pub(super) async fn take_cookies(&self, before: &State) -> Result<Vec<Value>, CdpError> {
        let params = json!({"browserContextId": self.context_id()});
        let mut answer = self.browser_call("Storage.getCookies", params).await?;
        let Value::Array(found) = answer["cookies"].take() else { return Ok(Vec::new()) };
        let is_callers = |cookie: &Value| cookie["priority"] == CALLERS;
        let mut cookies = Vec::new();
        // What belongs to a page without an address has no place that it could be put back to.
        for cookie in found.into_iter().filter(|cookie| cookie["partitionKeyOpaque"] != true) {
            if !is_callers(&cookie) {
                cookies.push(cookie);
            } else if let Some(hidden) = before.cookies.iter().find(|other| is_same(other, &cookie)) {
                cookies.push(hidden.clone());
            }
        }
        Ok(cookies)
    }
}
