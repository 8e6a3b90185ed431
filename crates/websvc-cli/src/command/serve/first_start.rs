//! The key of the first start, and what its user sees in a terminal.

use std::io::{IsTerminal, stderr};

use anyhow::Result;
use websvc_store::{KeyRights, Store};

use crate::args::{Common, KEY_VARIABLE};
use crate::config::{Config, Provider};
use crate::output::{self, Colors, Style};

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
    output::note(&guide.text(Colors::for_stderr()));
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
    fn text(&self, colors: Colors) -> String {
        let Self { address, key, link, common, searches_only_index } = self;
        let bold = |text: &str| colors.paint(text, Style::Bold);
        let dashboard = link.as_ref().map_or_else(String::new, |link| {
            format!(
                "  Dashboard  {}\n             (signs in once, within 10 minutes; later sign in with the key)\n",
                bold(link)
            )
        });
        let public_apis = if *searches_only_index {
            format!(
                "\n  A search finds the pages that you crawl. To search public APIs too, such as Wikipedia, start with\n    {}\n",
                common.command("serve --sources open")
            )
        } else {
            String::new()
        };
        format!(
            "
{dashboard}  API key    {}
             (shown only once; it is an admin key of the team default)

  Try next, in another terminal:

    export {KEY_VARIABLE}={key}
    websvc index crawl https://docs.example.com --limit 50 --server {address}
    websvc search \"how do I start\" --server {address}
{public_apis}",
            bold(key)
        )
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
        let text = guide.text(Colors::Off);
        for expected in [
            "Dashboard  http://127.0.0.1:3002/#/sign-in/ab\n",
            "API key    fc-1\n",
            "export WEBSVC_API_KEY=fc-1\n",
            "websvc search \"how do I start\" --server http://127.0.0.1:3002\n",
            "websvc serve --sources open --data-dir /data\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        let other = Guide { searches_only_index: false, link: None, ..guide }.text(Colors::Off);
        assert!(!other.contains("--sources open") && !other.contains("Dashboard"), "{other}");
    }
}
