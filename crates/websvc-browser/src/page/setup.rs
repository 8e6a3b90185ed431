//! The settings of a page before it navigates: device, user agent, locale, cookies and interception.

use std::sync::Arc;

use futures_util::future::try_join_all;
use http::header::{ACCEPT_LANGUAGE, HeaderMap, HeaderName, USER_AGENT};
use serde_json::{Value, json};
use websvc_transport::TlsPolicy;

use super::child_targets::{ChildTargets, TargetSetup, auto_attach, focus_command};
use super::command::Command;
use super::device::device_metrics;
use super::intercept::{Files, Interception};
use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::request::{Device, Geolocation, Locale, RenderRequest};
use crate::state::cookies::caller_cookies;
use crate::targets::Tabs;
use crate::user_agent::UserAgent;

impl Page<'_> {
    /// Returns the rules for the requests of the page.
    pub(super) fn interception(&self, request: &RenderRequest) -> Interception {
        // The page of a session has clients, and may open tabs.
        let files = if self.max_tabs.is_some() { Files::Refused } else { Files::Unreachable };
        Interception::new(request, files, self.forbidden_navigation())
    }

    /// Applies the settings of the request to the page and to its future child targets.
    pub(super) async fn set_up(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        let interception = Arc::new(self.interception(request));
        let patterns = interception.patterns();
        let children = self.register_child_targets(request, Arc::clone(&interception));
        let events = self.events.clone();
        let session = self.session.clone();
        let decide = move |paused: &Value| events.decide(&interception, paused, &session, None);
        let page = self.session.clone();
        let on_target = move |method: &str, params: &Value| children.on_target_event(&page, method, params);
        self.events.subscribe(self.process.cdp(), &self.session, decide, on_target);
        let user_agent = user_agent_override(&self.process.user_agent, request);
        let mut commands = vec![
            auto_attach(),
            Command::new("Emulation.setDeviceMetricsOverride", device_metrics(self.device, self.viewport)),
            Command::new("Emulation.setUserAgentOverride", user_agent),
        ];
        if !request.cookies.is_empty() {
            let cookies = caller_cookies(&request.cookies, &request.url);
            commands.push(Command::new("Network.setCookies", json!({"cookies": cookies})));
        }
        commands.push(focus_command());
        commands.extend(frame_commands(request));
        if let Some(patterns) = patterns {
            commands.push(Command::new("Fetch.enable", json!({"patterns": patterns})));
        }
        let calls = commands.into_iter().map(|Command { method, params }| self.call(method, params));
        let calls = try_join_all(calls);
        tokio::try_join!(
            async { calls.await.map_err(BrowserError::from) },
            self.emulate_locale(&request.locale)
        )?;
        Ok(())
    }

    /// Prepares the settings of child targets, and registers for the shared workers of the page.
    fn register_child_targets(
        &self,
        request: &RenderRequest,
        interception: Arc<Interception>,
    ) -> ChildTargets {
        let setup = TargetSetup {
            user_agent: user_agent_override(&self.process.user_agent, request),
            all_targets: locale_commands(&request.locale),
            frames: frame_commands(request),
        };
        let children =
            ChildTargets::new(self.process.cdp().clone(), self.events.clone(), interception, setup);
        let workers = children.clone();
        let on_worker = move |session: &str, kind: &str| workers.set_up(session, kind);
        self.process.targets().on_worker(&self.context.id, Arc::new(on_worker));
        if let Some(max_pages) = self.max_tabs {
            let (opened, closed) = (children.clone(), children.clone());
            let on_open = Arc::new(move |session: &str, target: &str| opened.set_up_tab(session, target));
            let (own, events) = (self.session.clone(), self.events.clone());
            let on_detached = Arc::new(move |session: &str| {
                closed.remove(session);
                if session == own {
                    events.lock().is_crashed = true;
                    events.notify();
                }
            });
            let events = self.events.clone();
            let on_url = Arc::new(move |url: &str| events.record_tab_url(url));
            let tabs = Tabs { max_pages, on_open, on_detached, on_url };
            self.process.targets().allow_tabs(&self.context.id, tabs);
        }
        children
    }

    /// Sets time zone, formats and geolocation. A name that Chromium does not know becomes a warning.
    async fn emulate_locale(&self, locale: &Locale) -> Result<(), BrowserError> {
        let Locale { languages: _, timezone, formats, geolocation } = locale;
        if let Some(timezone) = timezone {
            let params = json!({"timezoneId": timezone});
            self.call_or_warn("Emulation.setTimezoneOverride", params, timezone).await?;
        }
        if let Some(formats) = formats {
            self.call_or_warn("Emulation.setLocaleOverride", json!({"locale": formats}), formats).await?;
        }
        if let Some(Geolocation { latitude, longitude }) = geolocation {
            let grant = json!({"permissions": ["geolocation"], "browserContextId": self.context.id});
            self.process.cdp().call("", "Browser.grantPermissions", grant).await?;
            // Accuracy in meters: as precise as a city.
            let params = json!({"latitude": latitude, "longitude": longitude, "accuracy": 1000});
            self.call("Emulation.setGeolocationOverride", params).await?;
        }
        Ok(())
    }

    /// Sends a command; adds a warning that names `name` if Chromium refuses it.
    async fn call_or_warn(
        &self,
        method: &'static str,
        params: Value,
        name: &str,
    ) -> Result<(), BrowserError> {
        match self.call(method, params).await {
            Ok(_) => Ok(()),
            Err(CdpError::Refused { .. }) => {
                self.warn(format!("the browser does not know {name:?} and ignores it"));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the commands for every frame, in whichever process it is rendered.
fn frame_commands(request: &RenderRequest) -> Vec<Command> {
    let mut commands = Vec::new();
    if request.device == Device::Mobile {
        let touch = json!({"enabled": true, "maxTouchPoints": 5});
        commands.push(Command::new("Emulation.setTouchEmulationEnabled", touch));
    }
    if request.tls == TlsPolicy::SkipVerification {
        commands.push(Command::new("Security.setIgnoreCertificateErrors", json!({"ignore": true})));
    }
    if let Some(style) = &request.style {
        let script = json!({"source": stylesheet_script(style)});
        commands.push(Command::new("Page.addScriptToEvaluateOnNewDocument", script));
    }
    commands
}

/// Returns the commands for the time zone and the formats of frames and workers.
fn locale_commands(locale: &Locale) -> Vec<Command> {
    let Locale { languages: _, timezone, formats, geolocation: _ } = locale;
    let timezone = timezone
        .as_ref()
        .map(|timezone| Command::new("Emulation.setTimezoneOverride", json!({"timezoneId": timezone})));
    let formats = formats
        .as_ref()
        .map(|formats| Command::new("Emulation.setLocaleOverride", json!({"locale": formats})));
    timezone.into_iter().chain(formats).collect()
}

/// Returns the script that adds a style sheet to a document. An adopted style sheet needs no element, and the content
/// security policy of the page does not apply to it.
fn stylesheet_script(style: &str) -> String {
    format!(
        "(() => {{ const sheet = new CSSStyleSheet(); sheet.replaceSync({}); \
         document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; }})()",
        Value::from(style)
    )
}

/// Returns the parameters of `Emulation.setUserAgentOverride`: user agent, languages and platform. Headers of the request
/// take precedence.
fn user_agent_override(browser: &UserAgent, request: &RenderRequest) -> Value {
    let mut params = json!({"acceptLanguage": accept_language(request)});
    if let Some(chosen) = header(&request.headers, &USER_AGENT) {
        params["userAgent"] = chosen.into();
        return params;
    }
    let major = browser.major;
    let (text, platform, os, os_version) = match request.device {
        Device::Desktop => (browser.text.clone(), "Linux x86_64", "Linux", ""),
        Device::Mobile => {
            let text = format!(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/{major}.0.0.0 Mobile Safari/537.36"
            );
            (text, "Linux armv81", "Android", "10.0.0")
        }
    };
    params["userAgent"] = text.into();
    params["platform"] = platform.into();
    params["userAgentMetadata"] = json!({
        "brands": [
            {"brand": "Chromium", "version": major.to_string()},
            {"brand": "Not:A-Brand", "version": "8"},
        ],
        "platform": os,
        "platformVersion": os_version,
        "architecture": "",
        "model": "",
        "mobile": request.device == Device::Mobile,
    });
    params
}

/// Returns the languages, separated by commas. Chromium adds the weights of `Accept-Language` itself.
fn accept_language(request: &RenderRequest) -> String {
    if let Some(chosen) = header(&request.headers, &ACCEPT_LANGUAGE) {
        let names = chosen.split(',').filter_map(|item| item.split(';').next().map(str::trim));
        return names.collect::<Vec<_>>().join(",");
    }
    if request.locale.languages.is_empty() {
        "en-US,en".to_owned()
    } else {
        request.locale.languages.join(",")
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
