//! The cookies of a page's browser context.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::rendered_page::SetCookie;
use crate::state::State;
use crate::state::cookies::{CALLER_PRIORITY, is_same_cookie, is_unexpired, settable_cookie};

impl Page<'_> {
    /// Returns all cookies of the context.
    pub(super) async fn cookies(&self) -> Result<Vec<SetCookie>, BrowserError> {
        let context = json!({"browserContextId": self.context.id});
        let mut response = self.process.cdp().call("", "Storage.getCookies", context).await?;
        let text = |cookie: &mut Value, name: &str| match cookie[name].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let cookies = response["cookies"].as_array_mut().into_iter().flatten();
        Ok(cookies
            .map(|cookie| SetCookie {
                name: text(cookie, "name"),
                value: text(cookie, "value"),
                domain: text(cookie, "domain"),
                path: text(cookie, "path"),
                is_secure: cookie["secure"] == true,
            })
            .collect())
    }

    /// Sets the unexpired cookies of a state in the context.
    pub(super) async fn restore_cookies(&self, state: &State) -> Result<(), CdpError> {
        let now = SystemTime::now();
        let cookies: Vec<Value> =
            state.cookies.iter().filter(|cookie| is_unexpired(cookie, now)).map(settable_cookie).collect();
        if cookies.is_empty() {
            return Ok(());
        }
        match self.set_cookies(&json!(cookies)).await {
            Err(CdpError::Refused { .. }) => {}
            outcome => return outcome,
        }
        // Chromium refuses all of them if it refuses one, so each is set alone.
        let mut refused = 0;
        for cookie in cookies {
            match self.set_cookies(&json!([cookie])).await {
                Ok(()) => {}
                Err(CdpError::Refused { .. }) => refused += 1,
                Err(error) => return Err(error),
            }
        }
        self.warn(format!("cookies of the profile that could not be restored: {refused}"));
        Ok(())
    }

    async fn set_cookies(&self, cookies: &Value) -> Result<(), CdpError> {
        let params = json!({"cookies": cookies, "browserContextId": self.context_id()});
        self.call_browser("Storage.setCookies", params).await.map(drop)
    }

    /// Returns the cookies of the context without those that the caller set for this request. If one of those replaced
    /// a cookie of the previous state, that cookie is returned unchanged.
    pub(super) async fn capture_cookies(&self, before: &State) -> Result<Vec<Value>, CdpError> {
        let params = json!({"browserContextId": self.context_id()});
        let mut response = self.call_browser("Storage.getCookies", params).await?;
        let Value::Array(found) = response["cookies"].take() else { return Ok(Vec::new()) };
        let is_callers = |cookie: &Value| cookie["priority"] == CALLER_PRIORITY;
        let mut cookies = Vec::new();
        // A cookie with an opaque partition key cannot be set again.
        for cookie in found.into_iter().filter(|cookie| cookie["partitionKeyOpaque"] != true) {
            if !is_callers(&cookie) {
                cookies.push(cookie);
            } else if let Some(replaced) = before.cookies.iter().find(|other| is_same_cookie(other, &cookie))
            {
                cookies.push(replaced.clone());
            }
        }
        Ok(cookies)
    }
}
