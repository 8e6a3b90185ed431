//! Reading the stored card without building the engine's general document.

use tantivy::schema::Field;
use tantivy::schema::document::{
    DeserializeError, DocumentDeserialize, DocumentDeserializer, ValueDeserialize, ValueDeserializer,
};

/// The bytes of a [`Card`](crate::card::Card); the only stored field.
pub(crate) struct StoredCard(pub(crate) Vec<u8>);

struct Bytes(Vec<u8>);

impl ValueDeserialize for Bytes {
    fn deserialize<'de, D: ValueDeserializer<'de>>(deserializer: D) -> Result<Self, DeserializeError> {
        deserializer.deserialize_bytes().map(Self)
    }
}

impl DocumentDeserialize for StoredCard {
    fn deserialize<'de, D: DocumentDeserializer<'de>>(mut deserializer: D) -> Result<Self, DeserializeError> {
        let field: Option<(Field, Bytes)> = deserializer.next_field()?;
        Ok(Self(field.map(|(_, Bytes(bytes))| bytes).unwrap_or_default()))
    }
}
