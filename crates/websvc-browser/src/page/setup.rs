//! What a page is told before it goes anywhere: who looks at it, with what, from where.

use std::sync::Arc;

use futures_util::future::try_join_all;
use http::header::{ACCEPT_LANGUAGE, HeaderMap, HeaderName, USER_AGENT};
use serde_json::{Value, json};
use websvc_transport::TlsPolicy;

use super::child_targets::{ChildTargets, TargetSetup, attaching};
use super::command::Command;
use super::device::metrics;
use super::intercept::Interception;
use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::request::{Device, Locale, RenderRequest};
use crate::state::cookies::of_caller;
use crate::user_agent::UserAgent;

impl Page<'_> {
    /// Tells the page everything about the request but its URL.
    pub(super) async fn set_up(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        let interception = Arc::new(Interception::new(request));
        let patterns = interception.patterns();
        let children = self.expect_children(request, Arc::clone(&interception));
        let asking = self.watch.clone();
        let deciding = move |paused: &Value| asking.decide(&interception, paused);
        let heard = move |method: &str, params: &Value| children.hear(method, params);
        self.watch.follow(self.process.cdp(), &self.session, deciding, heard);
        let mut commands = vec![
            attaching(),
            ("Emulation.setDeviceMetricsOverride", metrics(self.device, self.viewport)),
            ("Emulation.setUserAgentOverride", identity(&self.process.user_agent, request)),
        ];
        if !request.cookies.is_empty() {
            let cookies = of_caller(&request.cookies, &request.url);
            commands.push(("Network.setCookies", json!({"cookies": cookies})));
        }
        commands.extend(in_frames(request));
        if let Some(patterns) = patterns {
            commands.push(("Fetch.enable", json!({"patterns": patterns})));
        }
        let commands = try_join_all(commands.into_iter().map(|(method, params)| self.call(method, params)));
        tokio::try_join!(
            async { commands.await.map_err(BrowserError::from) },
            self.move_to(&request.locale)
        )?;
        Ok(())
    }

    /// Sees to it that the parts of the page are told what the page is told.
    fn expect_children(&self, request: &RenderRequest, interception: Arc<Interception>) -> ChildTargets {
        let orders = TargetSetup {
            identity: identity(&self.process.user_agent, request),
            everywhere: everywhere(&request.locale),
            frames: in_frames(request),
        };
        let children =
            ChildTargets::new(self.process.cdp().clone(), self.watch.clone(), interception, orders);
        let told = children.clone();
        let welcome = move |session: &str, kind: &str| told.tell(session, kind);
        self.process.arrivals().on_worker(&self.context.id, Arc::new(welcome));
        children
    }

    /// Sets time zone, formats and place. A name that Chromium does not know becomes a warning.
    async fn move_to(&self, locale: &Locale) -> Result<(), BrowserError> {
        let Locale { languages: _, timezone, formats, geolocation } = locale;
        if let Some(timezone) = timezone {
            self.try_to("Emulation.setTimezoneOverride", json!({"timezoneId": timezone}), timezone).await?;
        }
        if let Some(formats) = formats {
            self.try_to("Emulation.setLocaleOverride", json!({"locale": formats}), formats).await?;
        }
        if let Some(place) = geolocation {
            let grant = json!({"permissions": ["geolocation"], "browserContextId": self.context.id});
            self.process.cdp().call("", "Browser.grantPermissions", grant).await?;
            // A city, not a house.
            let place = json!({"latitude": place.latitude, "longitude": place.longitude, "accuracy": 1000});
            self.call("Emulation.setGeolocationOverride", place).await?;
        }
        Ok(())
    }

    async fn try_to(&self, method: &'static str, params: Value, name: &str) -> Result<(), BrowserError> {
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

/// Returns what every frame is told, whichever process draws it.
fn in_frames(request: &RenderRequest) -> Vec<Command> {
    let mut commands = vec![("Emulation.setFocusEmulationEnabled", json!({"enabled": true}))];
    if request.device == Device::Mobile {
        let touch = json!({"enabled": true, "maxTouchPoints": 5});
        commands.push(("Emulation.setTouchEmulationEnabled", touch));
    }
    if request.tls == TlsPolicy::SkipVerification {
        commands.push(("Security.setIgnoreCertificateErrors", json!({"ignore": true})));
    }
    if let Some(style) = &request.style {
        let source = adopting(style);
        commands.push(("Page.addScriptToEvaluateOnNewDocument", json!({"source": source})));
    }
    commands
}

/// Returns what frames and workers are told of where they are.
fn everywhere(locale: &Locale) -> Vec<Command> {
    let Locale { languages: _, timezone, formats, geolocation: _ } = locale;
    let timezone =
        timezone.as_ref().map(|timezone| ("Emulation.setTimezoneOverride", json!({"timezoneId": timezone})));
    let formats = formats.as_ref().map(|formats| ("Emulation.setLocaleOverride", json!({"locale": formats})));
    timezone.into_iter().chain(formats).collect()
}

/// Returns the script that adds a style sheet to a document. An adopted one needs no element, and no permission of the
/// page's security policy.
fn adopting(style: &str) -> String {
    format!(
        "(() => {{ const sheet = new CSSStyleSheet(); sheet.replaceSync({}); \
         document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; }})()",
        Value::from(style)
    )
}

/// Returns what the page is told of the browser: its name, its languages, its system.
fn identity(own: &UserAgent, request: &RenderRequest) -> Value {
    let mut identity = json!({"acceptLanguage": languages(request)});
    if let Some(chosen) = header(&request.headers, &USER_AGENT) {
        identity["userAgent"] = chosen.into();
        return identity;
    }
    let major = own.major;
    let (text, platform, system, version) = match request.device {
        Device::Desktop => (own.text.clone(), "Linux x86_64", "Linux", ""),
        Device::Mobile => {
            let text = format!(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/{major}.0.0.0 Mobile Safari/537.36"
            );
            (text, "Linux armv81", "Android", "10.0.0")
        }
    };
    identity["userAgent"] = text.into();
    identity["platform"] = platform.into();
    identity["userAgentMetadata"] = json!({
        "brands": [
            {"brand": "Chromium", "version": major.to_string()},
            {"brand": "Not:A-Brand", "version": "8"},
        ],
        "platform": system,
        "platformVersion": version,
        "architecture": "",
        "model": "",
        "mobile": request.device == Device::Mobile,
    });
    identity
}

/// Returns the languages as Chromium wants them, which adds the weights itself.
fn languages(request: &RenderRequest) -> String {
    if let Some(chosen) = header(&request.headers, &ACCEPT_LANGUAGE) {
        let names = chosen.split(',').filter_map(|part| part.split(';').next().map(str::trim));
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
