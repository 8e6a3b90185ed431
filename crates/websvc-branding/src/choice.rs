//! The part of a design that a language model may decide: which of the close candidates is the main button, the logo or
//! a color of the brand, and the character of the page.
//!
//! The model answers with numbers of candidates and words of fixed lists, so it cannot add anything to the result that is
//! not on the page, except for the description of the audience.

use serde::Deserialize;
use serde_json::{Value, json};
use websvc_types::branding::{
    BrandComponent, BrandConfidence, BrandDesignSystem, BrandEnergy, BrandImages, BrandPersonality,
    BrandTone, CssFramework, PageBranding,
};
use websvc_types::limits::BRANDING_TEXT_MAX_CHARS;

/// The maximum number of buttons among which a model chooses.
pub(crate) const MAX_BUTTONS: usize = 8;

/// The maximum number of colors among which a model chooses.
pub(crate) const MAX_COLORS: usize = 10;

/// The maximum length of the name of a component library.
const MAX_LIBRARY_CHARS: usize = 40;

/// The close candidates for parts of a design, and what the page says about itself.
#[derive(Debug, Clone, Default)]
pub struct BrandChoices {
    pub(crate) buttons: Vec<ButtonChoice>,
    pub(crate) logos: Vec<LogoChoice>,
    pub(crate) colors: Vec<String>,
    /// Texts about the page, which may contain personal data.
    pub(crate) texts: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct ButtonChoice {
    pub(crate) label: String,
    pub(crate) names: String,
    pub(crate) component: BrandComponent,
}

#[derive(Debug, Clone)]
pub(crate) struct LogoChoice {
    pub(crate) description: String,
    pub(crate) images: BrandImages,
}

/// The answer of a model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    primary_button: Option<usize>,
    secondary_button: Option<usize>,
    logo: Option<usize>,
    primary_color: Option<usize>,
    secondary_color: Option<usize>,
    accent_color: Option<usize>,
    tone: BrandTone,
    energy: BrandEnergy,
    target_audience: String,
    framework: CssFramework,
    component_library: Option<String>,
    confidence: BrandConfidence,
}

impl BrandChoices {
    /// Applies `redact` to each text of the page that a model would read.
    pub fn redact_texts(&mut self, mut redact: impl FnMut(&mut String)) {
        let labels = self.buttons.iter_mut().map(|button| &mut button.label);
        let logos = self.logos.iter_mut().map(|logo| &mut logo.description);
        labels.chain(logos).chain(self.texts.iter_mut().map(|(_, text)| text)).for_each(&mut redact);
    }

    /// Returns the JSON schema of the answer.
    #[must_use]
    pub fn schema() -> Value {
        let number = json!({ "type": ["integer", "null"], "minimum": 0 });
        let share = json!({ "type": "number", "minimum": 0, "maximum": 1 });
        let properties = json!({
            "primaryButton": number,
            "secondaryButton": number,
            "logo": number,
            "primaryColor": number,
            "secondaryColor": number,
            "accentColor": number,
            "tone": { "enum": ["professional", "playful", "modern", "traditional", "minimalist", "bold"] },
            "energy": { "enum": ["low", "medium", "high"] },
            "targetAudience": { "type": "string", "maxLength": BRANDING_TEXT_MAX_CHARS },
            "framework": { "enum": ["tailwind", "bootstrap", "material", "chakra", "custom", "unknown"] },
            "componentLibrary": { "type": ["string", "null"], "maxLength": MAX_LIBRARY_CHARS },
            "confidence": {
                "type": "object",
                "properties": { "buttons": share, "colors": share, "overall": share },
                "required": ["buttons", "colors", "overall"],
                "additionalProperties": false,
            },
        });
        let names: Vec<&String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        json!({ "type": "object", "required": names, "properties": properties, "additionalProperties": false })
    }

    /// Returns the candidates as text for a model, with their numbers.
    #[must_use]
    pub fn describe(&self, branding: &PageBranding) -> String {
        let mut lines = Vec::new();
        lines.extend(self.texts.iter().map(|(name, text)| format!("{name}: {text}")));
        if let Some(system) = &branding.design_system {
            lines.push(format!("Traces of a framework: {system:?}"));
        }
        let fonts: Vec<&str> = branding.fonts.iter().map(|font| font.family.as_str()).collect();
        lines.push(format!("Fonts: {}", fonts.join(", ")));
        lines.push(format!("Background: {}", branding.colors.background.as_deref().unwrap_or("unknown")));
        lines.push("Buttons:".to_owned());
        for (number, button) in self.buttons.iter().enumerate() {
            let ButtonChoice { label, names, component } = button;
            let BrandComponent { background, text_color, .. } = component;
            lines.push(format!(
                "[{number}] {label:?}, classes {names:?}, background {background}, text {text_color}"
            ));
        }
        lines.push("Colors, the most used first:".to_owned());
        lines.extend(self.colors.iter().enumerate().map(|(number, color)| format!("[{number}] {color}")));
        lines.push("Logos:".to_owned());
        lines.extend(
            self.logos.iter().enumerate().map(|(number, logo)| format!("[{number}] {}", logo.description)),
        );
        lines.join("\n")
    }

    /// Changes a design as the model answered.
    ///
    /// # Errors
    /// The reason if the answer has another form, or names candidates that do not exist. The design is then unchanged.
    pub fn apply(&self, branding: &mut PageBranding, answer: Value) -> Result<(), String> {
        let answer: Answer = serde_json::from_value(answer)
            .map_err(|error| format!("the answer has another form: {error}"))?;
        let BrandConfidence { buttons, colors, overall } = answer.confidence;
        if [buttons, colors, overall].iter().any(|share| !(0.0..=1.0).contains(share)) {
            return Err("a confidence is not between 0 and 1".to_owned());
        }
        let primary = pick(&self.buttons, answer.primary_button, "button")?;
        let secondary = pick(&self.buttons, answer.secondary_button, "button")?;
        let logo = pick(&self.logos, answer.logo, "logo")?;
        let primary_color = pick(&self.colors, answer.primary_color, "color")?;
        let secondary_color = pick(&self.colors, answer.secondary_color, "color")?;
        let accent_color = pick(&self.colors, answer.accent_color, "color")?;
        if let Some(button) = primary {
            branding.components.button_primary = Some(button.component.clone());
        }
        if let Some(button) = secondary {
            branding.components.button_secondary = Some(button.component.clone());
        }
        if let Some(logo) = logo {
            branding.logo.clone_from(&logo.images.logo);
            branding.images = logo.images.clone();
        }
        for (color, field) in [
            (primary_color, &mut branding.colors.primary),
            (secondary_color, &mut branding.colors.secondary),
            (accent_color, &mut branding.colors.accent),
        ] {
            if let Some(color) = color {
                *field = Some(color.clone());
            }
        }
        let short = |text: &str, max: usize| text.trim().chars().take(max).collect::<String>();
        branding.personality = Some(BrandPersonality {
            tone: answer.tone,
            energy: answer.energy,
            target_audience: short(&answer.target_audience, BRANDING_TEXT_MAX_CHARS),
        });
        branding.design_system = Some(BrandDesignSystem {
            framework: answer.framework,
            component_library: answer
                .component_library
                .map(|library| short(&library, MAX_LIBRARY_CHARS))
                .filter(|library| !library.is_empty()),
        });
        branding.confidence = Some(answer.confidence);
        Ok(())
    }
}

fn pick<'a, T>(candidates: &'a [T], number: Option<usize>, kind: &str) -> Result<Option<&'a T>, String> {
    let Some(number) = number else { return Ok(None) };
    let candidate = candidates.get(number);
    candidate.map(Some).ok_or_else(|| format!("there is no {kind} with the number {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices() -> BrandChoices {
        let button = |background: &str| ButtonChoice {
            label: "Buy".to_owned(),
            names: "btn".to_owned(),
            component: BrandComponent { background: background.to_owned(), ..BrandComponent::default() },
        };
        BrandChoices {
            buttons: vec![button("#111111"), button("#222222")],
            colors: vec!["#FF0000".to_owned(), "#00FF00".to_owned()],
            ..BrandChoices::default()
        }
    }

    fn answer(changes: Value) -> Value {
        let mut answer = json!({
            "primaryButton": 1, "secondaryButton": null, "logo": null, "primaryColor": 1, "secondaryColor": null,
            "accentColor": null, "tone": "bold", "energy": "high", "targetAudience": " Tea drinkers ",
            "framework": "custom", "componentLibrary": null,
            "confidence": { "buttons": 0.9, "colors": 0.8, "overall": 1 },
        });
        let Value::Object(changes) = changes else { panic!("{changes}") };
        for (name, value) in changes {
            answer[name] = value;
        }
        answer
    }

    #[test]
    fn answer_chooses_candidates_and_describes_the_page() {
        let mut branding = PageBranding::default();
        branding.colors.accent = Some("#0000FF".to_owned());
        choices().apply(&mut branding, answer(json!({}))).unwrap();
        assert_eq!(branding.components.button_primary.as_ref().unwrap().background, "#222222");
        assert_eq!(branding.components.button_secondary, None);
        assert_eq!(branding.colors.primary.as_deref(), Some("#00FF00"));
        assert_eq!(branding.colors.accent.as_deref(), Some("#0000FF"));
        let personality = branding.personality.unwrap();
        assert_eq!(
            (personality.tone, personality.target_audience.as_str()),
            (BrandTone::Bold, "Tea drinkers")
        );
    }

    #[test]
    fn impossible_answer_changes_nothing() {
        for (changes, reason) in [
            (json!({ "primaryButton": 2 }), "there is no button with the number 2"),
            (json!({ "logo": 0 }), "there is no logo with the number 0"),
            (json!({ "tone": "angry" }), "the answer has another form"),
            (
                json!({ "confidence": { "buttons": 2, "colors": 0, "overall": 0 } }),
                "a confidence is not between 0 and 1",
            ),
        ] {
            let mut branding = PageBranding::default();
            let error = choices().apply(&mut branding, answer(changes)).unwrap_err();
            assert!(error.contains(reason), "{error}");
            assert_eq!(branding, PageBranding::default());
        }
    }

    #[test]
    fn schema_requires_every_property() {
        let schema = BrandChoices::schema();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(schema["required"].as_array().unwrap().len(), properties.len());
        assert!(answer(json!({})).as_object().unwrap().keys().all(|name| properties.contains_key(name)));
    }
}
