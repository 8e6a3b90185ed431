//! Presets: ready-made definitions of public search APIs, which are files inside the program.

use serde::Deserialize;

use super::search::{Provider, Search, Source};

/// The name that stands for all presets that need no key.
pub(crate) const OPEN: &str = "open";

/// The files by name, in the order in which their results are preferred.
const FILES: &[(&str, &str)] = &[
    ("brave", include_str!("../../presets/brave.toml")),
    ("kagi", include_str!("../../presets/kagi.toml")),
    ("google", include_str!("../../presets/google.toml")),
    ("serper", include_str!("../../presets/serper.toml")),
    ("exa", include_str!("../../presets/exa.toml")),
    ("tavily", include_str!("../../presets/tavily.toml")),
    ("mojeek", include_str!("../../presets/mojeek.toml")),
    ("serper-images", include_str!("../../presets/serper-images.toml")),
    ("serper-news", include_str!("../../presets/serper-news.toml")),
    ("wikipedia", include_str!("../../presets/wikipedia.toml")),
    ("marginalia", include_str!("../../presets/marginalia.toml")),
    ("stackexchange", include_str!("../../presets/stackexchange.toml")),
    ("github", include_str!("../../presets/github.toml")),
    ("mdn", include_str!("../../presets/mdn.toml")),
    ("crates-io", include_str!("../../presets/crates-io.toml")),
    ("npm", include_str!("../../presets/npm.toml")),
    ("hackernews", include_str!("../../presets/hackernews.toml")),
    ("openalex", include_str!("../../presets/openalex.toml")),
    ("arxiv", include_str!("../../presets/arxiv.toml")),
    ("europepmc", include_str!("../../presets/europepmc.toml")),
    ("openalex-pdf", include_str!("../../presets/openalex-pdf.toml")),
    ("semantic-scholar", include_str!("../../presets/semantic-scholar.toml")),
    ("crossref", include_str!("../../presets/crossref.toml")),
    ("gdelt", include_str!("../../presets/gdelt.toml")),
    ("wikimedia-commons", include_str!("../../presets/wikimedia-commons.toml")),
    ("openverse", include_str!("../../presets/openverse.toml")),
    ("internet-archive", include_str!("../../presets/internet-archive.toml")),
    ("wikidata", include_str!("../../presets/wikidata.toml")),
];

/// A ready-made definition of a search API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preset {
    #[serde(skip)]
    pub(crate) name: &'static str,
    /// Name of the service.
    pub(crate) title: String,
    /// The kind of pages that it finds.
    pub(crate) about: String,
    /// URL of its terms of use.
    pub(crate) terms: String,
    /// True if it is one of [`OPEN`].
    #[serde(default)]
    pub(crate) open: bool,
    /// Environment variables that it needs.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// Environment variables that raise its limits.
    #[serde(default)]
    pub(crate) optional_keys: Vec<String>,
    pub(crate) source: Source,
    #[serde(skip)]
    text: &'static str,
}

impl Preset {
    /// Returns all presets.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FILES.iter().map(|(name, text)| Self::parse(name, text))
    }

    /// Returns the preset with a name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        FILES.iter().find(|(known, _)| *known == name).map(|(name, text)| Self::parse(name, text))
    }

    /// Returns the names of all presets.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    fn parse(name: &'static str, text: &'static str) -> Self {
        let preset: Self = toml::from_str(text).expect("a test reads every preset");
        Self { name, text, ..preset }
    }

    /// Returns the definition as a section of a configuration file.
    pub(crate) fn section(&self) -> String {
        let definition = self.text.split_once("\n\n").map_or(self.text, |(_, definition)| definition);
        let lines = definition.lines().map(|line| match line.strip_prefix("[source") {
            Some(rest) => format!("[search.sources.{}{rest}", self.name),
            None => line.to_owned(),
        });
        lines.map(|line| line + "\n").collect()
    }
}

/// A name that no preset has.
#[derive(Debug, thiserror::Error)]
#[error("{name:?} is not a preset{}: `websvc sources list` shows them", nearest.map_or_else(String::new, |name| format!(", did you mean {name:?}?")))]
pub(crate) struct UnknownPreset {
    pub(crate) name: String,
    pub(crate) nearest: Option<&'static str>,
}

impl Search {
    /// Adds the definitions of the presets that `presets` and `providers` name.
    pub(super) fn with_presets(mut self) -> Result<Self, UnknownPreset> {
        let presets = std::mem::take(&mut self.presets);
        self.add_presets(&presets)?;
        Ok(self)
    }

    /// Adds presets to the providers, and the definitions of those that the providers name. A source of the configuration
    /// with the same name stays.
    pub(crate) fn add_presets(&mut self, presets: &[String]) -> Result<(), UnknownPreset> {
        for name in presets {
            let named: Vec<Preset> = match name.as_str() {
                OPEN => Preset::all().filter(|preset| preset.open).collect(),
                name => Preset::find(name).into_iter().collect(),
            };
            if named.is_empty() {
                let nearest = websvc_validate::suggest(name, Preset::names().chain([OPEN]));
                return Err(UnknownPreset { name: name.clone(), nearest });
            }
            let names = named.into_iter().map(|preset| Provider::Named(preset.name.to_owned()));
            let new: Vec<Provider> = names.filter(|name| !self.providers.contains(name)).collect();
            self.providers.extend(new);
        }
        for provider in &self.providers {
            if let Provider::Named(name) = provider
                && !self.sources.contains_key(name)
                && let Some(preset) = Preset::find(name)
            {
                self.sources.insert(name.clone(), preset.source);
            }
        }
        self.presets.extend_from_slice(presets);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
