//! Kinds of pages.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::foreign;
use crate::short_form::{self, ShortForm};

/// A kind of page: its bare name, or an object with it as `type`. Written as the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Pages of GitHub.
    Github,
    /// Pages of publishers and archives of research.
    Research,
    /// PDF files.
    Pdf,
}

/// The object form.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Object {
    Github {},
    Research {},
    Pdf {},
}

impl<'de> Deserialize<'de> for Category {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        short_form::deserialize(deserializer)
    }
}

impl<'de> ShortForm<'de> for Category {
    const EXPECTED: &'static str = "the name of a category, or an object with its type";

    fn from_object<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Object::deserialize(deserializer)? {
            Object::Github {} => Category::Github,
            Object::Research {} => Category::Research,
            Object::Pdf {} => Category::Pdf,
        })
    }
}

impl JsonSchema for Category {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Category".into()
    }

    /// Written out at each place, because requests and responses spell it differently: in the OpenAPI document both
    /// would share one name.
    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = json_schema!({ "type": "string", "enum": ["github", "research", "pdf"] });
        if generator.contract().is_serialize() {
            return names;
        }
        json_schema!({
            "description": "A kind of page: its bare name, or an object with it as type.",
            "anyOf": [
                names,
                { "type": "object", "properties": { "type": names }, "required": ["type"] },
                foreign::left_out(foreign::CATEGORIES),
            ],
        })
    }
}
