//! Page categories of a search.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, IgnoredAny, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use crate::bare_name::{self, BareName};
use crate::compat;
use crate::tagged::{self, Tagged};

/// Category of a page. Read from its bare name or from an object with `type`, written as the name.
///
/// ```
/// use websvc_types::Category;
///
/// let categories: Vec<Category> = serde_json::from_str(r#"["github", {"type": "pdf"}]"#)?;
/// assert_eq!(categories, [Category::Github, Category::Pdf]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Pages of GitHub.
    Github,
    /// Pages of research publishers and archives.
    Research,
    /// PDF files.
    Pdf,
}

impl<'de> Deserialize<'de> for Category {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bare_name::deserialize(deserializer)
    }
}

impl<'de> BareName<'de> for Category {
    const EXPECTED: &'static str = "the name of a category, or an object with its type";

    fn from_name<E: Error>(name: &str) -> Result<Self, E> {
        tagged::from_name(name)
    }

    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        tagged::from_map(map)
    }
}

impl<'de> Tagged<'de> for Category {
    const EXPECTED: &'static str = <Self as BareName>::EXPECTED;

    fn from_tag<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(fields)?;
        match tag {
            "github" => Ok(Category::Github),
            "research" => Ok(Category::Research),
            "pdf" => Ok(Category::Pdf),
            unknown => Err(D::Error::unknown_variant(unknown, &["github", "research", "pdf"])),
        }
    }
}

#[cfg(feature = "schemars")]
impl JsonSchema for Category {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Category".into()
    }

    /// Inlined, because the schemas of requests and responses differ and the OpenAPI document would have one name for
    /// both.
    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = json_schema!({ "type": "string", "enum": ["github", "research", "pdf"] });
        if generator.contract().is_serialize() {
            return names;
        }
        json_schema!({
            "description": "Category of a page: its bare name, or an object with `type`.",
            "anyOf": [
                names,
                { "type": "object", "properties": { "type": names }, "required": ["type"] },
                compat::ignored_values_schema(compat::CATEGORIES),
            ],
        })
    }
}
