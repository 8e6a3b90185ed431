//! Hashes of the rows of a table that are the same for both engines.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::value::Value;
use crate::sql::postgres::without_nul;

/// Number and hash of the rows that were added.
///
/// A row is the sequence of its values. A value is a byte for its type, followed by eight bytes for an integer, or by
/// the length in eight bytes and the content for text and bytes. All numbers are big-endian.
#[derive(Debug, Clone, Default)]
pub(super) struct TableDigest {
    rows: u64,
    texts_with_nul: u64,
    hash: Sha256,
}

impl TableDigest {
    pub(super) fn add(&mut self, row: &[Value]) {
        self.rows += 1;
        row.iter().for_each(|value| self.add_value(value));
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.hash.update([0]),
            Value::Integer(number) => {
                self.hash.update([1]);
                self.hash.update(number.to_be_bytes());
            }
            Value::Text(text) => {
                self.texts_with_nul += u64::from(value.has_nul());
                // As it is written to PostgreSQL.
                self.add_bytes(2, without_nul(text).as_bytes());
            }
            Value::Blob(bytes) => self.add_bytes(3, bytes),
        }
    }

    fn add_bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.hash.update([kind]);
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn texts_with_nul(&self) -> u64 {
        self.texts_with_nul
    }

    /// Returns the hash in hex digits.
    pub(super) fn sha256(&self) -> String {
        HEXLOWER.encode(&self.hash.clone().finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(rows: &[&[Value]]) -> String {
        let mut digest = TableDigest::default();
        rows.iter().for_each(|row| digest.add(row));
        digest.sha256()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn hash_distinguishes_types_borders_and_order() {
        let rows: &[&[&[Value]]] = &[
            &[],
            &[&[Value::Null]],
            &[&[Value::Integer(0)]],
            &[&[text("")]],
            &[&[Value::Blob(Vec::new())]],
            &[&[text("ab"), text("c")]],
            &[&[text("a"), text("bc")]],
            &[&[text("a")], &[text("b")]],
            &[&[text("b")], &[text("a")]],
        ];
        let hashes: std::collections::BTreeSet<String> = rows.iter().map(|rows| sha256(rows)).collect();
        assert_eq!(hashes.len(), rows.len());
    }

    #[test]
    fn text_with_nul_has_the_hash_of_what_the_server_stores() {
        assert_eq!(sha256(&[&[text("a\0b")]]), sha256(&[&[text("a\u{fffd}b")]]));
        let mut digest = TableDigest::default();
        digest.add(&[text("a\0b"), text("\0"), text("c")]);
        assert_eq!((digest.rows(), digest.texts_with_nul()), (1, 2));
    }
}
