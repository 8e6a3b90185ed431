//! A graph of entities with types and properties, whatever syntax they are written in.

use super::value::decoded;
use crate::text::start_of;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of entities of a graph.
pub(crate) const MAX_ENTITIES: usize = 5_000;

/// Maximum number of properties of a graph.
const MAX_PROPERTIES: usize = 20_000;

/// Maximum number of bytes of one value. The rest is cut off.
pub(crate) const MAX_VALUE_BYTES: usize = 16 << 10;

/// Maximum number of bytes of all values of a graph.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Maximum work of all lookups in a graph. Entities may refer to shared ones, and readers follow each reference again: without
/// a limit, a page of 10 KB could take hours. A property that is passed over is the unit.
const MAX_WORK: usize = 100_000_000;

/// Work for a value that is found, in addition to its bytes: the reader parses it.
const VALUE_WORK: usize = 100;

/// The index of an entity in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EntityId(usize);

/// A value that is not an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A value for programs: of JSON-LD, or of an attribute.
    Data(String),
    /// A text that the page shows.
    Text(String),
}

impl Literal {
    /// Returns the value as a string.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Literal::Data(text) | Literal::Text(text) => text,
        }
    }
}

#[derive(Debug)]
enum Value {
    Literal(Literal),
    Entity(EntityId),
    /// The ID of an entity that may be defined elsewhere.
    Reference(String),
}

impl Value {
    /// Returns the work of reading the value.
    fn work(&self) -> usize {
        VALUE_WORK
            + match self {
                Value::Literal(literal) => literal.as_str().len(),
                Value::Entity(_) => 0,
                Value::Reference(id) => id.len(),
            }
    }
}

/// A value of a property.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Property<'a> {
    Literal(&'a Literal),
    Entity(Entity<'a>),
}

#[derive(Debug, Default)]
struct Record {
    id: Option<String>,
    types: Vec<String>,
    properties: Vec<(String, Value)>,
    /// The entity whose element contains this one, which is not its property.
    enclosing: Option<EntityId>,
}

/// Entities with their properties and the entities at its top level.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    records: Vec<Record>,
    roots: Vec<EntityId>,
    by_id: HashMap<String, EntityId>,
    property_count: usize,
    text_bytes: usize,
    /// True once a text did not fit.
    is_text_full: bool,
    /// The work of the lookups so far. Atomic only so that a page can be shared between threads.
    work: AtomicUsize,
}

impl Graph {
    /// Adds an entity, or returns the one with the same ID. `None` if the graph is full.
    pub(super) fn add_entity<'t>(
        &mut self,
        id: Option<&str>,
        types: impl Iterator<Item = &'t str>,
    ) -> Option<EntityId> {
        let id = id.map(|id| start_of(id.trim(), MAX_VALUE_BYTES)).filter(|id| !id.is_empty());
        let known = id.and_then(|id| self.by_id.get(id)).copied();
        let entity = match known {
            Some(entity) => entity,
            None if self.records.len() >= MAX_ENTITIES => return None,
            None => {
                let entity = EntityId(self.records.len());
                self.records.push(Record { id: id.map(str::to_owned), ..Record::default() });
                if let Some(id) = id {
                    self.by_id.insert(id.to_owned(), entity);
                }
                entity
            }
        };
        let record = &mut self.records[entity.0];
        for name in types.map(local_name).filter(|name| !name.is_empty()).take(20) {
            if record.types.len() < 20 && !record.types.iter().any(|known| known == name) {
                record.types.push(start_of(name, 200).to_owned());
            }
        }
        Some(entity)
    }

    /// Adds an entity to those at the top level.
    pub(super) fn add_root(&mut self, entity: EntityId, enclosing: Option<EntityId>) {
        self.records[entity.0].enclosing = enclosing;
        if !self.roots.contains(&entity) {
            self.roots.push(entity);
        }
    }

    pub(super) fn add_literal(&mut self, entity: EntityId, name: &str, literal: Literal) {
        let literal = match literal {
            Literal::Data(text) => Literal::Data(decoded(start_of(&text, MAX_VALUE_BYTES))),
            Literal::Text(text) => Literal::Text(start_of(&text, MAX_VALUE_BYTES).to_owned()),
        };
        let length = literal.as_str().len();
        if self.text_bytes + length > MAX_TEXT_BYTES {
            // A reader that goes on would collapse a long text for each of the other properties.
            self.is_text_full = true;
        } else if length > 0 {
            self.text_bytes += length;
            self.add(entity, name, Value::Literal(literal));
        } else {
            // An empty text costs as much to read as another.
            self.property_count += 1;
        }
    }

    pub(super) fn add_property(&mut self, entity: EntityId, name: &str, value: EntityId) {
        self.add(entity, name, Value::Entity(value));
    }

    pub(super) fn add_reference(&mut self, entity: EntityId, name: &str, id: &str) {
        self.add(entity, name, Value::Reference(start_of(id.trim(), MAX_VALUE_BYTES).to_owned()));
    }

    /// Returns whether no more properties can be added, so that their values need not be read.
    pub(super) fn is_full(&self) -> bool {
        self.is_text_full || self.property_count >= MAX_PROPERTIES
    }

    fn add(&mut self, entity: EntityId, name: &str, value: Value) {
        if !self.is_full() {
            self.property_count += 1;
            let name = start_of(local_name(name), 200).to_owned();
            self.records[entity.0].properties.push((name, value));
        }
    }

    /// Iterates over the entities at the top level, in the order of the page.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Entity<'_>> {
        self.roots.iter().map(|&id| Entity { graph: self, id })
    }

    /// Counts the work of a lookup. Returns whether it may be done.
    /// Returns the entities that are values of these properties.
    pub(crate) fn values_of(&self, properties: &[&str]) -> HashSet<EntityId> {
        let values =
            self.entities().flat_map(|entity| properties.iter().flat_map(move |name| entity.entities(name)));
        values.map(|entity| entity.id).collect()
    }

    fn charge(&self, work: usize) -> bool {
        self.work.fetch_add(work, Ordering::Relaxed) < MAX_WORK
    }

    /// Iterates over all entities.
    pub(crate) fn entities(&self) -> impl Iterator<Item = Entity<'_>> {
        (0..self.records.len()).map(|index| Entity { graph: self, id: EntityId(index) })
    }
}

/// An entity of a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entity<'a> {
    graph: &'a Graph,
    pub(crate) id: EntityId,
}

impl<'a> Entity<'a> {
    fn record(self) -> &'a Record {
        &self.graph.records[self.id.0]
    }

    /// Returns the `@id`, `itemid` or `resource`.
    pub(crate) fn identifier(self) -> Option<&'a str> {
        self.record().id.as_deref()
    }

    /// Returns the address of an image or another file.
    pub(crate) fn file(self) -> Option<&'a str> {
        self.text("contentUrl").or_else(|| self.text("url")).or_else(|| self.identifier())
    }

    /// Iterates over the names of the types, without their vocabulary.
    pub(crate) fn types(self) -> impl Iterator<Item = &'a str> {
        self.record().types.iter().map(String::as_str)
    }

    /// Returns whether the entity has one of the types.
    pub(crate) fn is(self, types: &[&str]) -> bool {
        self.types().any(|name| types.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)))
    }

    /// Returns the entity whose element contains this one, without a property that names it.
    pub(crate) fn enclosing(self) -> Option<Entity<'a>> {
        Some(Entity { graph: self.graph, id: self.record().enclosing? })
    }

    /// Returns the number of properties, which is the cost of looking one up.
    pub(crate) fn property_count(self) -> usize {
        self.record().properties.len()
    }

    /// Iterates over the values of a property. References are resolved. There are no more values once the lookups in the graph
    /// have cost too much.
    pub(crate) fn values(self, name: &str) -> impl Iterator<Item = Property<'a>> {
        let graph = self.graph;
        let all = self.record().properties.as_slice();
        let properties = if graph.charge(all.len()) { all } else { &[] };
        let values = properties.iter().filter(move |(property, _)| property == name).map(|(_, value)| value);
        let affordable = values.take_while(move |value| graph.charge(value.work()));
        affordable.filter_map(move |value| match value {
            Value::Literal(literal) => Some(Property::Literal(literal)),
            Value::Entity(id) => Some(Property::Entity(Entity { graph, id: *id })),
            Value::Reference(reference) => {
                Some(Property::Entity(Entity { graph, id: *graph.by_id.get(reference)? }))
            }
        })
    }

    /// Iterates over the values of a property that are not entities.
    pub(crate) fn literals(self, name: &str) -> impl Iterator<Item = &'a Literal> {
        self.values(name).filter_map(|value| match value {
            Property::Literal(literal) => Some(literal),
            Property::Entity(_) => None,
        })
    }

    /// Returns the first text of a property.
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.literals(name).map(|literal| literal.as_str().trim()).find(|text| !text.is_empty())
    }

    /// Iterates over the entities of a property.
    pub(crate) fn entities(self, name: &str) -> impl Iterator<Item = Entity<'a>> {
        self.values(name).filter_map(|value| match value {
            Property::Literal(_) => None,
            Property::Entity(entity) => Some(entity),
        })
    }

    /// Returns the first text of a property, or the name of its entity.
    pub(crate) fn label(self, name: &str) -> Option<&'a str> {
        self.labels(name).next()
    }

    /// Iterates over the texts of a property and the names of its entities.
    pub(crate) fn labels(self, name: &str) -> impl Iterator<Item = &'a str> {
        let labels = self.values(name).filter_map(|value| match value {
            Property::Literal(literal) => Some(literal.as_str()),
            Property::Entity(entity) => entity.text("name").or_else(|| entity.text("value")),
        });
        labels.map(str::trim).filter(|text| !text.is_empty())
    }
}

/// Returns the name of a type or property without its vocabulary: the part after the last `/`, `#` or `:`.
fn local_name(name: &str) -> &str {
    let name = name.trim();
    name.trim_end_matches('/').rsplit(['/', '#', ':']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_is_full_once_a_text_does_not_fit() {
        let mut graph = Graph::default();
        let entity = graph.add_entity(None, ["Product"].into_iter()).unwrap();
        let text = "x".repeat(MAX_VALUE_BYTES - 1);
        for _ in 0..MAX_TEXT_BYTES / MAX_VALUE_BYTES {
            assert!(!graph.is_full());
            graph.add_literal(entity, "name", Literal::Text(text.clone()));
        }
        assert!(!graph.is_full(), "a few bytes are left");
        graph.add_literal(entity, "name", Literal::Text(text));
        assert!(graph.is_full());
    }

    #[test]
    fn empty_values_count_as_properties() {
        let mut graph = Graph::default();
        let entity = graph.add_entity(None, ["Product"].into_iter()).unwrap();
        for _ in 0..MAX_PROPERTIES {
            graph.add_literal(entity, "name", Literal::Text(String::new()));
        }
        assert!(graph.is_full());
        assert_eq!(graph.roots().count() + graph.entities().next().unwrap().values("name").count(), 0);
    }
}
