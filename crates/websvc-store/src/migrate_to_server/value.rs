//! Values of rows, independent of the engine.

use crate::sql::{self, FromSql, Row, ToSql, ValueError, ValueRef};

/// A value that is read from one database and written to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    /// Returns the approximate size in memory, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let content = match self {
            Self::Null | Self::Integer(_) => 0,
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        };
        size_of::<Self>() + content
    }

    /// Returns whether this is a text with NUL, which PostgreSQL cannot store.
    pub(super) fn has_nul(&self) -> bool {
        matches!(self, Self::Text(text) if text.contains('\0'))
    }
}

impl FromSql for Value {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, ValueError> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Text(text) => Self::Text(text.to_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
            ValueRef::Real(_) => {
                let expected = "an integer, text or bytes";
                return Err(ValueError::Type { expected, found: value.type_name() });
            }
        })
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> sql::Result<ValueRef<'_>> {
        Ok(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        })
    }
}

/// Reads the first `count` columns of a row.
pub(super) fn read_values(row: &Row<'_>, count: usize) -> sql::Result<Vec<Value>> {
    (0..count).map(|column| row.get(column)).collect()
}
