//! The key of the first start, and what its user sees in a terminal.

use std::io::{IsTerminal, stderr};

use anyhow::Result;
use websvc_store::{KeyRights, Store};

use crate::args::{Common, KEY_VARIABLE};
use crate::config::{Config, Provider};
use crate::output::{self, Style};

/// Creates and prints a key at the first start. In a terminal the key is one of an administrator, and its user sees how to
/// go on: `link_of` returns a link that signs in to the dashboard with a key. Otherwise programs read the output, and an
/// ordinary key is enough for them.
pub(super) fn announce(
    store: &Store,
    config: &Config,
    address: &str,
    common: &Common,
    link_of: impl FnOnce(&str) -> Option<String>,
) -> Result<()> {
    let has_user = stderr().is_terminal();
    let rights = KeyRights { admin: has_user, ..KeyRights::default() };
    let Some(key) = store.ensure_default_key(&rights)? else { return Ok(()) };
    let key = key.secret.expose();
    if !has_user {
        let (create, list) = (common.command("keys create"), common.command("keys list"));
        output::note(&format!(
            "API key of team default, shown only once: {key}\n  (`{create}` creates more, `{list}` lists them)"
        ));
        return Ok(());
    }
    let searches_only_index = config.search.providers.iter().all(|provider| *provider == Provider::Index);
    let guide = Guide { address, key, link: link_of(key), common, searches_only_index };
    output::note(&guide.text(output::has_note_styles()));
    Ok(())
}

/// The first steps with the service.
struct Guide<'a> {
    address: &'a str,
    key: &'a str,
    link: Option<String>,
    common: &'a Common,
    searches_only_index: bool,
}

impl Guide<'_> {
    fn text(&self, has_styles: bool) -> String {
        let Self { address, key, link, common, searches_only_index } = self;
        let bold =
            |text: &str| if has_styles { output::with_style(text, Style::Bold) } else { text.to_owned() };
        let mut lines = vec![String::new()];
        if let Some(link) = link {
            lines.push(format!("  Dashboard  {}", bold(link)));
            lines.push(
                "             (signs in once, within 10 minutes; later sign in with the key)".to_owned(),
            );
        }
        lines.push(format!("  API key    {}", bold(key)));
        lines.push("             (shown only once; it is an admin key of the team default)".to_owned());
        lines.push("\n  Try next, in another terminal:\n".to_owned());
        lines.push(format!("    export {KEY_VARIABLE}={key}"));
        lines.push(format!("    websvc index crawl https://docs.example.com --limit 50 --server {address}"));
        lines.push(format!("    websvc search \"how do I start\" --server {address}"));
        if *searches_only_index {
            lines.push("\n  A search finds the pages that you crawl. To search public APIs too, such as Wikipedia, start with".to_owned());
            lines.push(format!("    {}", common.command("serve --sources open")));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guide_has_the_link_the_key_and_commands() {
        let common = Common { data_dir: Some("/data".into()), ..Common::default() };
        let guide = Guide {
            address: "http://127.0.0.1:3002",
            key: "fc-1",
            link: Some("http://127.0.0.1:3002/#/sign-in/ab".to_owned()),
            common: &common,
            searches_only_index: true,
        };
        let text = guide.text(false);
        for expected in [
            "Dashboard  http://127.0.0.1:3002/#/sign-in/ab\n",
            "API key    fc-1\n",
            "export WEBSVC_API_KEY=fc-1\n",
            "websvc search \"how do I start\" --server http://127.0.0.1:3002\n",
            "websvc serve --sources open --data-dir /data\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        let other = Guide { searches_only_index: false, link: None, ..guide }.text(false);
        assert!(!other.contains("--sources open") && !other.contains("Dashboard"), "{other}");
    }
}
