//! Values of parameters and columns in the formats of PostgreSQL.

use std::borrow::Cow;
use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::sql::ValueRef;

type Failure = Box<dyn StdError + Sync + Send>;

/// A parameter. PostgreSQL decides its type from the statement.
#[derive(Debug)]
pub(super) struct Parameter<'a>(pub(super) ValueRef<'a>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        if is_unspecified(kind) {
            return Ok(write_text(self.0, out));
        }
        match self.0 {
            ValueRef::Null => return Ok(IsNull::Yes),
            ValueRef::Integer(number) => write_integer(number, kind, out)?,
            ValueRef::Real(number) if *kind == Type::FLOAT8 => out.put_f64(number),
            ValueRef::Text(text) if is_text(kind) => out.put_slice(without_nul(text).as_bytes()),
            ValueRef::Blob(bytes) if *kind == Type::BYTEA => out.put_slice(bytes),
            other => return Err(mismatch(other, kind)),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, kind: &Type) -> Format {
        if is_unspecified(kind) { Format::Text } else { Format::Binary }
    }

    to_sql_checked!();
}

/// Returns whether the server decides the type after the value is sent.
fn is_unspecified(kind: &Type) -> bool {
    kind.oid() == 0
}

/// Writes a value as text, which the server reads as a value of any type that it may decide on.
fn write_text(value: ValueRef<'_>, out: &mut BytesMut) -> IsNull {
    match value {
        ValueRef::Null => return IsNull::Yes,
        ValueRef::Integer(number) => out.put_slice(number.to_string().as_bytes()),
        ValueRef::Real(number) => out.put_slice(number.to_string().as_bytes()),
        ValueRef::Text(text) => out.put_slice(without_nul(text).as_bytes()),
        ValueRef::Blob(bytes) => {
            out.put_slice(b"\\x");
            out.put_slice(data_encoding::HEXLOWER.encode(bytes).as_bytes());
        }
    }
    IsNull::No
}

fn write_integer(number: i64, kind: &Type, out: &mut BytesMut) -> Result<(), Failure> {
    match *kind {
        Type::INT8 => out.put_i64(number),
        Type::INT4 => out.put_i32(number.try_into()?),
        Type::BOOL => out.put_u8(u8::from(number != 0)),
        _ => return Err(mismatch(ValueRef::Integer(number), kind)),
    }
    Ok(())
}

/// Returns a text as it is stored. PostgreSQL rejects NUL, which JSON of clients may contain, so it is replaced.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

fn is_text(kind: &Type) -> bool {
    matches!(*kind, Type::TEXT | Type::VARCHAR | Type::UNKNOWN)
}

fn mismatch(value: ValueRef<'_>, kind: &Type) -> Failure {
    format!("the statement expects {kind}, and the parameter is {}", value.type_name()).into()
}

/// The value of a column.
#[derive(Debug)]
pub(super) struct Column<'a>(pub(super) ValueRef<'a>);

impl<'a> FromSql<'a> for Column<'a> {
    fn from_sql(kind: &Type, bytes: &'a [u8]) -> Result<Self, Failure> {
        Ok(Self(match *kind {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(bytes.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(bytes.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(bytes.first().is_some_and(|&byte| byte != 0).into()),
            Type::NUMERIC => ValueRef::Integer(integer_from_numeric(bytes)?),
            Type::FLOAT8 => ValueRef::Real(f64::from_be_bytes(bytes.try_into()?)),
            Type::BYTEA => ValueRef::Blob(bytes),
            _ if is_text(kind) => ValueRef::Text(std::str::from_utf8(bytes)?),
            _ => return Err(format!("a column has the type {kind}, which is not used").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Failure> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns a whole number of the type `numeric`, which sums of integers have. The format is a header of four 16-bit
/// numbers (count of digits, weight of the first digit, sign, decimals), and digits of base 10,000.
fn integer_from_numeric(bytes: &[u8]) -> Result<i64, Failure> {
    const NEGATIVE: i16 = 0x4000;
    let words: Vec<i16> = bytes.chunks_exact(2).map(|word| i16::from_be_bytes([word[0], word[1]])).collect();
    let [count, weight, sign, _, digits @ ..] = &*words else {
        return Err("a number of the type numeric has no header".into());
    };
    if *count == 0 {
        return Ok(0);
    }
    let is_whole = usize::try_from(*weight).is_ok_and(|weight| digits.len() <= weight + 1);
    if !is_whole || !matches!(*sign, 0 | NEGATIVE) {
        return Err("a number of the type numeric is not whole".into());
    }
    let overflow = "a number of the type numeric has more than 64 bits";
    let mut value = 0_i64;
    for position in 0..=*weight as usize {
        let digit = digits.get(position).copied().unwrap_or(0);
        value = value.checked_mul(10_000).and_then(|v| v.checked_add(digit.into())).ok_or(overflow)?;
    }
    Ok(if *sign == NEGATIVE { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(weight: i16, sign: i16, digits: &[i16]) -> Vec<u8> {
        let header = [digits.len() as i16, weight, sign, 0];
        header.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn whole_numbers_of_the_type_numeric_are_read() {
        for (bytes, expected) in [
            (numeric(0, 0, &[]), Some(0)),
            (numeric(0, 0, &[7]), Some(7)),
            (numeric(0, 0x4000, &[7]), Some(-7)),
            (numeric(1, 0, &[1]), Some(10_000)),
            (numeric(1, 0, &[123, 4567]), Some(1_234_567)),
            (numeric(4, 0, &[922, 3372, 368, 5477, 5807]), Some(i64::MAX)),
            (numeric(4, 0, &[922, 3372, 368, 5477, 5808]), None),
            (numeric(0, 0, &[1, 5000]), None),
            (numeric(-1, 0, &[5000]), None),
            (numeric(0, -0x4000, &[]), Some(0)),
            (vec![0, 1], None),
        ] {
            assert_eq!(integer_from_numeric(&bytes).ok(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn nul_in_texts_is_replaced() {
        let mut out = BytesMut::new();
        Parameter(ValueRef::Text("a\0b")).to_sql(&Type::TEXT, &mut out).unwrap();
        assert_eq!(out, "a\u{fffd}b".as_bytes());
    }

    #[test]
    fn parameters_without_a_type_are_texts() {
        use tokio_postgres::types::Kind;

        let unspecified = Type::new(String::new(), 0, Kind::Pseudo, String::new());
        for (value, expected) in [
            (ValueRef::Integer(-7), "-7"),
            (ValueRef::Real(0.1), "0.1"),
            (ValueRef::Real(1e300), &1e300.to_string()),
            (ValueRef::Text("a\0b"), "a\u{fffd}b"),
            (ValueRef::Blob(&[0, 255, b'a']), "\\x00ff61"),
        ] {
            let mut out = BytesMut::new();
            let parameter = Parameter(value);
            parameter.to_sql(&unspecified, &mut out).unwrap();
            assert_eq!(out, expected.as_bytes());
            assert!(matches!(parameter.encode_format(&unspecified), Format::Text));
            assert!(matches!(parameter.encode_format(&Type::INT8), Format::Binary));
        }
    }

    #[test]
    fn parameter_of_another_type_is_rejected_with_both_types() {
        let error = |number, kind| {
            let written = Parameter(ValueRef::Integer(number)).to_sql(&kind, &mut BytesMut::new());
            written.err().map(|error| error.to_string())
        };
        let mismatch = "the statement expects text, and the parameter is an integer";
        assert_eq!(error(1, Type::TEXT).as_deref(), Some(mismatch));
        assert!(error(i64::MAX, Type::INT4).is_some());
        assert_eq!(error(1, Type::INT8), None);
    }
}
