//! The file format safetensors: a JSON header with the types, shapes and places of tensors, then their bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use serde::Deserialize;
use serde_json::Value;

use crate::error::ModelFileError;

/// Maximum size of a file of tensors. The models that encode in the process are far smaller.
const MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Maximum size of the header.
const MAX_HEADER_BYTES: usize = 16 * 1024 * 1024;

/// Distance of the bytes that the fingerprint of a file depends on; odd, so that all bytes of numbers occur.
const SAMPLE_STEP: usize = 97;

/// The tensors of a file.
pub(crate) struct Tensors {
    path: PathBuf,
    entries: HashMap<String, Entry>,
    data: Vec<u8>,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    pub(crate) fn read(path: &Path) -> Result<Self, ModelFileError> {
        let fail = |reason: String| ModelFileError::new(path, reason);
        let io = |error: std::io::Error| ModelFileError::new(path, error.to_string());
        let mut file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        if bytes > MAX_BYTES {
            return Err(fail(format!("it has {bytes} bytes: the maximum is {MAX_BYTES}")));
        }
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(io)?;
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_HEADER_BYTES {
            return Err(fail(format!("its header has {length} bytes: the maximum is {MAX_HEADER_BYTES}")));
        }
        let mut header = vec![0; length];
        file.read_exact(&mut header).map_err(io)?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(&header).map_err(|error| fail(format!("its header: {error}")))?;
        let mut entries = HashMap::with_capacity(header.len());
        for (name, value) in header {
            if name != "__metadata__" {
                let entry =
                    serde_json::from_value(value).map_err(|error| fail(format!("{name}: {error}")))?;
                entries.insert(name, entry);
            }
        }
        let mut data = Vec::new();
        file.read_to_end(&mut data).map_err(io)?;
        Ok(Self { path: path.to_owned(), entries, data })
    }

    /// Returns a hash of a sample of the file, FNV-1a.
    pub(crate) fn fingerprint(&self) -> u64 {
        let sample = self.data.iter().step_by(SAMPLE_STEP).copied();
        let bytes = (self.data.len() as u64).to_le_bytes().into_iter().chain(sample);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Returns a matrix. A shape of `None` may have any number of rows or columns.
    pub(crate) fn matrix(
        &self,
        name: &str,
        rows: Option<usize>,
        columns: Option<usize>,
    ) -> Result<Array2<f32>, ModelFileError> {
        let entry = self.entry(name)?;
        let &[found_rows, found_columns] = entry.shape.as_slice() else {
            return Err(
                self.fail(name, format!("its shape is {:?}: a matrix has two dimensions", entry.shape))
            );
        };
        let differs = |expected: Option<usize>, found| expected.is_some_and(|expected| expected != found);
        if differs(rows, found_rows) || differs(columns, found_columns) || found_columns == 0 {
            return Err(self.fail(name, format!("its shape {:?} does not fit config.json", entry.shape)));
        }
        let values = self.floats(name, entry)?;
        Array2::from_shape_vec((found_rows, found_columns), values)
            .map_err(|error| self.fail(name, error.to_string()))
    }

    /// Returns a vector of `length` numbers.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, ModelFileError> {
        let entry = self.entry(name)?;
        if entry.shape != [length] {
            return Err(self.fail(name, format!("its shape is {:?}: expected [{length}]", entry.shape)));
        }
        self.floats(name, entry).map(Array1::from_vec)
    }

    /// Returns a vector of integers of any length.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<usize>, ModelFileError> {
        let entry = self.entry(name)?;
        let bytes = self.bytes(name, entry)?;
        let integers: Vec<Option<usize>> = match entry.dtype.as_str() {
            "I64" => chunks(bytes, |bytes| usize::try_from(i64::from_le_bytes(bytes)).ok()),
            "I32" => chunks(bytes, |bytes| usize::try_from(i32::from_le_bytes(bytes)).ok()),
            other => return Err(self.fail(name, format!("its type is {other}: expected I64 or I32"))),
        };
        integers.into_iter().collect::<Option<_>>().ok_or_else(|| self.fail(name, "it has negative numbers"))
    }

    fn entry(&self, name: &str) -> Result<&Entry, ModelFileError> {
        self.entries.get(name).ok_or_else(|| self.fail(name, "it is missing"))
    }

    fn bytes(&self, name: &str, entry: &Entry) -> Result<&[u8], ModelFileError> {
        let (start, end) = entry.data_offsets;
        self.data.get(start..end).ok_or_else(|| self.fail(name, "its place is outside the file"))
    }

    fn floats(&self, name: &str, entry: &Entry) -> Result<Vec<f32>, ModelFileError> {
        let bytes = self.bytes(name, entry)?;
        let values: Vec<f32> = match entry.dtype.as_str() {
            "F32" => chunks(bytes, f32::from_le_bytes),
            "F64" => chunks(bytes, |bytes| f64::from_le_bytes(bytes) as f32),
            "F16" => chunks(bytes, |bytes| half(u16::from_le_bytes(bytes))),
            "BF16" => chunks(bytes, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)),
            "I8" => chunks(bytes, |[byte]: [u8; 1]| f32::from(byte.cast_signed())),
            other => return Err(self.fail(name, format!("its type {other} is not supported"))),
        };
        let expected = entry.shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        if expected != Some(values.len()) {
            return Err(self.fail(name, "its bytes do not fit its shape"));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(self.fail(name, "it has numbers that are not finite"));
        }
        Ok(values)
    }

    fn fail(&self, name: &str, reason: impl Into<String>) -> ModelFileError {
        ModelFileError::new(&self.path, format!("the tensor {name}: {}", reason.into()))
    }
}

/// Converts each whole chunk of `N` bytes.
fn chunks<const N: usize, T>(bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| convert(*chunk)).collect()
}

/// Converts a half-precision number.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match exponent {
        0 => {
            let magnitude = fraction as f32 / 16_777_216.0;
            if sign == 0 { magnitude } else { -magnitude }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision_numbers_are_exact() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0x8400, -6.103_515_6e-5),
        ] {
            assert!(
                (half(bits) - expected).abs() <= f32::EPSILON * expected.abs(),
                "{bits:x}: {}",
                half(bits)
            );
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
