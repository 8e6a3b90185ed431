//! Reading of YAML files as JSON values.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use yaml_rust2::{Yaml, YamlLoader};

use crate::Result;

/// Reads a file with one document.
pub(super) fn read(path: &Path) -> Result<Value> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let documents = YamlLoader::load_from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    let [document] = documents.as_slice() else {
        return Err(format!("{name}: one document is required, not {}", documents.len()).into());
    };
    to_json(document).map_err(|error| format!("{name}: {error}").into())
}

fn to_json(yaml: &Yaml) -> std::result::Result<Value, String> {
    Ok(match yaml {
        Yaml::Null => Value::Null,
        Yaml::Boolean(value) => (*value).into(),
        Yaml::Integer(number) => (*number).into(),
        Yaml::Real(text) => serde_json::from_str(text).map_err(|_error| format!("{text} is not a number"))?,
        Yaml::String(text) => text.as_str().into(),
        Yaml::Array(items) => Value::Array(items.iter().map(to_json).collect::<std::result::Result<_, _>>()?),
        Yaml::Hash(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                let key = key.as_str().ok_or_else(|| format!("a key is not a string: {key:?}"))?;
                object.insert(key.to_owned(), to_json(value)?);
            }
            Value::Object(object)
        }
        Yaml::Alias(_) | Yaml::BadValue => return Err("aliases are not supported".to_owned()),
    })
}
