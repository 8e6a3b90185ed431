//! Tests of the filter.

use super::*;

struct Owner;

impl Ownership for Owner {
    fn context(&self) -> &str {
        "OWN"
    }
    fn owns_session(&self, session: &str) -> bool {
        session == "S1"
    }
    fn owns_stream(&self, handle: &str) -> bool {
        handle == "7"
    }
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "callers make the parameters for this call")]
fn refused(method: &str, params: Value) {
    let text = params.to_string();
    let verdict = check(method, Some(&text), &Owner);
    assert!(matches!(verdict, Verdict::Refuse(_)), "{method} {verdict:?}");
}

#[track_caller]
fn forwarded(method: &str, params: &Value, expected: &Value) {
    let text = params.to_string();
    let Verdict::Forward(sent) = check(method, Some(&text), &Owner) else { panic!("{method} {params}") };
    assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), *expected, "{method}");
}

/// Commands that reach the machine, another context, the protocol without the filter, or the end of the browser.
const FORBIDDEN: &str = "Browser.addPrivacySandboxEnrollmentOverride Browser.cancelDownload Browser.close Browser.crash \
    Browser.crashGpuProcess Browser.executeBrowserCommand Browser.getBrowserCommandLine Browser.getHistograms \
    Browser.setDockTile Cast.enable Cast.startTabMirroring DeviceAccess.enable DOM.getFileInfo DOM.setFileInputFiles \
    Extensions.loadUnpacked Extensions.uninstall FileSystem.getDirectory HeapProfiler.takeHeapSnapshot IO.resolveBlob \
    Memory.forciblyPurgeJavaScriptMemory Memory.getBrowserSamplingProfile Network.loadNetworkResource \
    Network.enableReportingApi Page.addCompilationCache Page.crash Page.getManifestIcons Page.handleFileChooser \
    Page.setPrerenderingAllowed Page.setWebLifecycle Page.waitForDebugger PWA.install PWA.launch \
    Storage.setInterestGroupTracking Storage.overrideQuotaForOrigin SystemInfo.getInfo SystemInfo.getProcessInfo \
    Target.attachToBrowserTarget Target.autoAttachRelated Target.createBrowserContext Target.disposeBrowserContext \
    Target.exposeDevToolsProtocol Target.openDevTools Target.sendMessageToTarget Target.setAttachToFrames \
    Target.setRemoteLocations Tethering.bind Tethering.unbind Tracing.end Tracing.start \
    Tracing.requestMemoryDump WebAuthn.enable Runtime Page. .navigate page.navigate Page.navigate.x";

#[test]
fn forbidden_commands_are_refused() {
    for method in FORBIDDEN.split_ascii_whitespace() {
        refused(method, json!({}));
    }
    refused("", json!({}));
}

#[test]
fn forbidden_parameters_are_refused() {
    for url in [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "view-source:http://a.test/",
        "chrome://version",
        "chrome-extension://a/b.html",
        "devtools://devtools/bundled/inspector.html",
        "filesystem:http://a.test/temporary/a",
        "javascript:alert(1)",
        "blob:file:///1",
        "about:version",
        "ftp://a.test/",
        "relative",
    ] {
        for method in ["Page.navigate", "Target.createTarget", "Fetch.continueRequest"] {
            refused(method, json!({"url": url}));
        }
    }
    for (method, params) in [
        ("Page.navigate", json!({"url": ["http://a.test/"]})),
        ("Page.navigate", json!([])),
        ("Runtime.enable", json!([])),
        ("Target.createTarget", json!({"url": "http://a.test/", "browserContextId": "OTHER"})),
        ("Target.createTarget", json!({"url": "http://a.test/", "hidden": true})),
        ("Target.createTarget", json!({"url": "http://a.test/", "enableBeginFrameControl": true})),
        ("Storage.getCookies", json!({"browserContextId": "OTHER"})),
        ("Storage.setCookies", json!({"cookies": [], "browserContextId": 7})),
        ("Browser.grantPermissions", json!({"permissions": [], "browserContextId": "OTHER"})),
        ("Target.attachToTarget", json!({"targetId": "T"})),
        ("Target.attachToTarget", json!({"targetId": "T", "flatten": false})),
        ("Target.attachToTarget", json!({"targetId": "T", "autoAttach": false})),
        ("Target.attachToTarget", json!({"targetId": "T", "autoAttach": false, "flatten": false})),
        ("Target.setAutoAttach", json!({"autoAttach": true, "waitForDebuggerOnStart": false})),
        ("Target.detachFromTarget", json!({"sessionId": "S2"})),
        ("Target.detachFromTarget", json!({"targetId": "T"})),
        ("IO.read", json!({"handle": "8"})),
        ("IO.read", json!({"handle": "blob:http://a.test/1"})),
        ("IO.close", json!({})),
        ("Input.dispatchDragEvent", json!({"type": "drop", "data": {"files": ["/etc/passwd"]}})),
        ("Input.dispatchDragEvent", json!({"type": "drop", "data": {"files": "/etc/passwd"}})),
    ] {
        refused(method, params);
    }
}

#[test]
fn commands_of_the_page_are_forwarded_in_its_context() {
    let about = json!({"url": "about:blank"});
    forwarded("Page.navigate", &about, &about);
    let web = json!({"url": "https://a.test/", "frameId": "F"});
    forwarded("Page.navigate", &web, &web);
    forwarded("Runtime.enable", &json!({}), &json!({}));
    assert_eq!(check("Runtime.enable", None, &Owner), Verdict::Forward("{}".into()));
    forwarded("Storage.getCookies", &json!({}), &json!({"browserContextId": "OWN"}));
    let tab = json!({"url": "about:blank", "browserContextId": "OWN"});
    forwarded("Target.createTarget", &about, &tab);
    forwarded("Target.createTarget", &tab, &tab);
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    forwarded("Target.setAutoAttach", &attach, &attach);
    let detach = json!({"autoAttach": false, "waitForDebuggerOnStart": false});
    forwarded("Target.setAutoAttach", &detach, &detach);
    forwarded("IO.read", &json!({"handle": "7"}), &json!({"handle": "7"}));
    let drag = json!({"type": "drop", "data": {"items": [], "files": []}});
    forwarded("Input.dispatchDragEvent", &drag, &drag);
}

#[test]
fn clients_see_downloads_but_do_not_decide_about_them() {
    let params = json!({"behavior": "allow", "downloadPath": "/tmp", "eventsEnabled": true});
    let params = params.to_string();
    let verdict = check("Browser.setDownloadBehavior", Some(&params), &Owner);
    assert_eq!(verdict, Verdict::ShowDownloads(true));
    let verdict = check("Browser.setDownloadBehavior", Some("{\"behavior\": \"default\"}"), &Owner);
    assert_eq!(verdict, Verdict::ShowDownloads(false));
    refused("Browser.setDownloadBehavior", json!({"behavior": "allow", "browserContextId": "OTHER"}));
    assert_eq!(check("Page.setDownloadBehavior", Some(&params), &Owner), Verdict::Answer(json!({})));
}

#[test]
fn commands_that_name_a_target_need_one_that_the_client_sees() {
    for method in
        ["Browser.getWindowForTarget", "Target.activateTarget", "Target.closeTarget", "Target.getTargetInfo"]
    {
        let verdict = check(method, Some(r#"{"targetId": "T"}"#), &Owner);
        let params = r#"{"targetId":"T"}"#.into();
        assert_eq!(verdict, Verdict::ForwardIfVisible { target: "T".to_owned(), params }, "{method}");
        // The target of the session that gets the command.
        forwarded(method, &json!({}), &json!({}));
        refused(method, json!({"targetId": 7}));
        refused(method, json!({"targetId": ["T"]}));
    }
    let attach = r#"{"targetId":"T","flatten":true}"#;
    let expected = Verdict::ForwardIfVisible { target: "T".to_owned(), params: attach.into() };
    assert_eq!(check("Target.attachToTarget", Some(attach), &Owner), expected);
    let named: Vec<&str> =
        COMMANDS.iter().find(|(domain, _)| *domain == "Target").unwrap().1.split(' ').collect();
    for command in named.iter().filter(|name| name.ends_with("Target") && **name != "createTarget") {
        let method = format!("Target.{command}");
        assert!(RULES.iter().any(|(name, _)| *name == method), "{method} has no rule");
    }
}

#[test]
fn parameters_that_readers_may_read_differently_are_refused() {
    for (method, params) in [
        ("Page.navigate", r#"{"url": "http://a.test/", "url": "file:///etc/passwd"}"#),
        ("Page.navigate", r#"{"url": "http://a.test/", "\u0075rl": "file:///etc/passwd"}"#),
        ("Input.dispatchDragEvent", r#"{"data": {"files": [], "files": ["/etc/passwd"]}}"#),
        ("Target.attachToTarget", r#"{"targetId": "T", "flatten": true, "flatten": false}"#),
        ("Runtime.enable", "[]"),
        ("Runtime.enable", "7"),
    ] {
        let verdict = check(method, Some(params), &Owner);
        assert!(matches!(verdict, Verdict::Refuse(_)), "{method} {params} {verdict:?}");
    }
}

#[test]
fn parameters_without_a_rule_are_not_copied() {
    let params = r#"{"expression": [[], {"":0}]}"#;
    let Verdict::Forward(Cow::Borrowed(sent)) = check("Runtime.evaluate", Some(params), &Owner) else {
        panic!()
    };
    assert_eq!(sent, params);
}

#[test]
fn commands_with_rules_are_listed_once_and_sorted() {
    for (domain, commands) in COMMANDS {
        let commands: Vec<&str> = commands.split_ascii_whitespace().collect();
        assert!(commands.is_sorted_by(|a, b| a < b), "{domain}: {commands:?}");
    }
    let lower_case = |name: &str| name.to_ascii_lowercase();
    let domains: Vec<String> = COMMANDS.iter().map(|(domain, _)| lower_case(domain)).collect();
    assert!(domains.is_sorted_by(|a, b| a < b), "{domains:?}");
    let methods: Vec<String> = RULES.iter().map(|(method, _)| lower_case(method)).collect();
    assert!(methods.is_sorted_by(|a, b| a < b), "{methods:?}");
    assert!(RULES.iter().all(|(method, _)| is_listed(method)));
}
