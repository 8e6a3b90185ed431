//! `websvc sources`: lists, shows and tests the sources of search results.

use anyhow::{Result, bail};
use serde_json::json;
use websvc_engine::{ResultKind, Topic};

use super::doctor;
use crate::args::SourcesCommand;
use crate::config::{Config, OPEN, Preset, Provider, Source};
use crate::output::{self, Table};

/// Runs `websvc sources`.
pub(crate) async fn run(config: Config, command: SourcesCommand) -> Result<()> {
    match command {
        SourcesCommand::List { json } => list(&config, json),
        SourcesCommand::Show { name } => show(&name),
        SourcesCommand::Test { names, json } => test(config, &names, json).await,
    }
}

fn list(config: &Config, as_json: bool) -> Result<()> {
    let is_searched = |name: &str| config.search.providers.iter().any(|provider| provider.name() == name);
    let own = config.search.providers.iter().filter(|provider| Preset::find(provider.name()).is_none());
    if as_json {
        let own = own.map(|provider| json!({ "name": provider.name(), "searched": true }));
        let presets = Preset::all().map(|preset| {
            json!({
                "name": preset.name, "title": preset.title, "about": preset.about, "terms": preset.terms,
                "results": kinds(&preset.source), "topics": topics(&preset.source), "open": preset.open,
                "keys": preset.keys, "optionalKeys": preset.optional_keys, "searched": is_searched(preset.name),
            })
        });
        return output::json(&own.chain(presets).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["NAME", "SEARCHED", "RESULTS", "TOPICS", "KEY", "FINDS"]);
    for provider in own {
        table.row(&[provider.name(), "yes", "-", "-", "-", about_own(provider)]);
    }
    for preset in Preset::all() {
        let key = match (&preset.keys[..], &preset.optional_keys[..]) {
            ([], []) => "none".to_owned(),
            ([], optional) => format!("{} (optional)", optional.join(", ")),
            (keys, _) => keys.join(", "),
        };
        let searched = match (is_searched(preset.name), preset.open) {
            (true, _) => "yes",
            (false, true) => OPEN,
            (false, false) => "no",
        };
        let about = format!("{}: {}", preset.title, preset.about);
        let topics = topics(&preset.source).join(", ");
        table.row(&[preset.name, searched, &kinds(&preset.source).join(", "), &topics, &key, &about]);
    }
    table.print()?;
    output::note(
        "\n`websvc serve --sources open` searches those marked open. In a configuration, set `presets` in [search].",
    );
    Ok(())
}

fn about_own(provider: &Provider) -> &'static str {
    match provider {
        Provider::Index => "the pages that this installation has crawled and scraped",
        Provider::Searxng => "the results of an instance of SearXNG",
        Provider::Named(_) => "a source of the configuration",
    }
}

fn kinds(source: &Source) -> Vec<&'static str> {
    let Source::HttpJson(source) = source else { return Vec::new() };
    let names = source.declaration.offers.iter().map(|kind| match kind {
        ResultKind::Web => "web",
        ResultKind::Images => "images",
        ResultKind::News => "news",
    });
    names.collect()
}

fn topics(source: &Source) -> Vec<&'static str> {
    let Source::HttpJson(source) = source else { return Vec::new() };
    let topics = &source.declaration.topics;
    if topics.is_empty() {
        return vec!["any"];
    }
    let names = topics.iter().map(|topic| match topic {
        Topic::General => "general",
        Topic::Code => "code",
        Topic::Research => "research",
        Topic::Pdf => "pdf",
    });
    names.collect()
}

fn show(name: &str) -> Result<()> {
    let Some(preset) = Preset::find(name) else { bail!(unknown(name)) };
    let Preset { title, about, terms, .. } = &preset;
    output::line(&format!("# {title}: {about}.\n# Terms: {terms}\n{}", preset.section().trim_end()))
}

fn unknown(name: &str) -> String {
    let nearest = websvc_validate::suggest(name, Preset::names());
    let hint = nearest.map_or_else(String::new, |nearest| format!(", did you mean {nearest:?}?"));
    format!("there is no preset {name:?}{hint}: `websvc sources list` shows them")
}

/// Searches for a common word with the named presets, or else with all remote sources of the configuration.
async fn test(mut config: Config, names: &[String], as_json: bool) -> Result<()> {
    if !names.is_empty() {
        config.search.providers.clear();
        config.search.add_presets(names)?;
    }
    doctor::test_sources(&config, as_json).await
}
