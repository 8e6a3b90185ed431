//! Values of parameters and columns.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::{Error, Result};

/// A value in the database.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ValueRef<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl ValueRef<'_> {
    /// Returns the name of the type, for errors.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a floating-point number",
            Self::Text(_) => "text",
            Self::Blob(_) => "bytes",
        }
    }
}

/// The reason why a column does not have the expected value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueError {
    /// The column has another type.
    #[error("expected {expected}, found {found}")]
    Type { expected: &'static str, found: &'static str },
    /// The integer does not fit into the type.
    #[error("the number {0} is out of range")]
    Range(i64),
    /// The text or the bytes have another form.
    #[error(transparent)]
    Invalid(Box<dyn std::error::Error + Send + Sync>),
}

/// A value that can be a parameter.
pub(crate) trait ToSql {
    /// Returns the value for the database.
    ///
    /// # Errors
    /// [`Error::ParameterRange`] for an integer above `i64::MAX`.
    fn to_sql(&self) -> Result<ValueRef<'_>>;
}

/// A value that can be read from a column.
pub(crate) trait FromSql: Sized {
    /// Converts the value of a column.
    ///
    /// # Errors
    /// [`ValueError`] if it has another type, range or form.
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError>;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> Result<ValueRef<'_>> {
                i64::try_from(*self)
                    .map(ValueRef::Integer)
                    .map_err(|_| Error::ParameterRange(u64::try_from(*self).unwrap_or_default()))
            }
        }

        impl FromSql for $type {
            fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
                let number = integer(value)?;
                number.try_into().map_err(|_| ValueError::Range(number))
            }
        }
    )*};
}

integers!(i64, i32, u64, u32, u16, usize);

fn integer(value: ValueRef<'_>) -> std::result::Result<i64, ValueError> {
    match value {
        ValueRef::Integer(number) => Ok(number),
        other => Err(ValueError::Type { expected: "an integer", found: other.type_name() }),
    }
}

impl ToSql for bool {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Integer(i64::from(*self)))
    }
}

impl FromSql for bool {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        integer(value).map(|number| number != 0)
    }
}

impl ToSql for str {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Text(self))
    }
}

impl ToSql for String {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_str().to_sql()
    }
}

impl FromSql for String {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        match value {
            ValueRef::Text(text) => Ok(text.to_owned()),
            other => Err(ValueError::Type { expected: "text", found: other.type_name() }),
        }
    }
}

impl FromSql for Arc<str> {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        String::from_sql(value).map(Self::from)
    }
}

impl ToSql for [u8] {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl<const N: usize> ToSql for [u8; N] {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_slice().to_sql()
    }
}

impl ToSql for Vec<u8> {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_slice().to_sql()
    }
}

impl ToSql for Bytes {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        (**self).to_sql()
    }
}

fn blob(value: ValueRef<'_>) -> std::result::Result<&[u8], ValueError> {
    match value {
        ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(ValueError::Type { expected: "bytes", found: other.type_name() }),
    }
}

impl FromSql for Vec<u8> {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        blob(value).map(<[u8]>::to_vec)
    }
}

impl<const N: usize> FromSql for [u8; N] {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        blob(value)?.try_into().map_err(|error| ValueError::Invalid(Box::new(error)))
    }
}

impl<T: ToSql> ToSql for Option<T> {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_ref().map_or(Ok(ValueRef::Null), ToSql::to_sql)
    }
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_sql(value: ValueRef<'_>) -> std::result::Result<Self, ValueError> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_sql(value).map(Some),
        }
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        (**self).to_sql()
    }
}

impl<T: ToSql + ToOwned + ?Sized> ToSql for Cow<'_, T> {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        (**self).to_sql()
    }
}
