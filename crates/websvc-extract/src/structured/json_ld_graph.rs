//! JSON-LD as a graph (JSON-LD 1.1 without contexts: terms are those of schema.org).

use super::graph::{EntityId, Graph, Literal};
use serde_json::{Map, Value};

/// Reads the parsed JSON-LD blocks of a page. Their depth is limited by the JSON parser.
pub(super) fn read(blocks: &[Value]) -> Graph {
    let mut graph = Graph::default();
    for block in blocks {
        read_roots(&mut graph, block);
    }
    graph
}

/// Adds the entities at the top level of a value: objects, members of lists, and members of `@graph`.
fn read_roots(graph: &mut Graph, value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| read_roots(graph, item)),
        Value::Object(object) => {
            if let Some(members) = object.get("@graph") {
                read_roots(graph, members);
            }
            if object.keys().any(|key| !key.starts_with('@'))
                && let Some(entity) = read_object(graph, object)
            {
                graph.add_root(entity, None);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn read_object(graph: &mut Graph, object: &Map<String, Value>) -> Option<EntityId> {
    let types: Vec<&str> = match object.get("@type").or_else(|| object.get("type")) {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let id = object.get("@id").and_then(Value::as_str);
    let entity = graph.add_entity(id, types.into_iter())?;
    for (name, value) in object.iter().filter(|(name, _)| !name.starts_with('@')) {
        read_property(graph, entity, name, value);
    }
    Some(entity)
}

fn read_property(graph: &mut Graph, entity: EntityId, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Bool(value) => graph.add_literal(entity, name, Literal::Data(value.to_string())),
        Value::Number(value) => graph.add_literal(entity, name, Literal::Data(value.to_string())),
        Value::String(value) => graph.add_literal(entity, name, Literal::Data(value.clone())),
        Value::Array(items) => items.iter().for_each(|item| read_property(graph, entity, name, item)),
        Value::Object(object) => {
            if let Some(value) =
                object.get("@value").or_else(|| object.get("@list")).or_else(|| object.get("@set"))
            {
                read_property(graph, entity, name, value);
            } else if object.len() == 1
                && let Some(id) = object.get("@id").and_then(Value::as_str)
            {
                graph.add_reference(entity, name, id);
            } else if let Some(inner) = read_object(graph, object) {
                graph.add_property(entity, name, inner);
            }
        }
    }
}
