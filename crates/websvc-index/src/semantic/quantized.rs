//! Vectors with one byte per dimension, and their cosines.

/// Bytes of a stored vector before its values: the scale.
pub(super) const SCALE_BYTES: usize = 4;

/// Returns the stored bytes of a vector: the scale, then a byte for each value. Returns `None` for a vector without
/// direction.
pub(super) fn quantize(vector: &[f32]) -> Option<Vec<u8>> {
    let (values, scale) = scaled(vector)?;
    let mut row = scale.to_le_bytes().to_vec();
    row.extend(values.map(|value| (value as i8).cast_unsigned()));
    Some(row)
}

/// Returns the values from -127 to 127, and the factor that makes a vector of length 1 of them.
fn scaled(vector: &[f32]) -> Option<(impl Iterator<Item = f32> + '_, f32)> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    let max = vector.iter().fold(0f32, |max, value| max.max(value.abs()));
    let usable = length.is_finite() && length > 0.0 && max > 0.0;
    usable.then(|| (vector.iter().map(move |value| (value / max * 127.0).round()), max / 127.0 / length))
}

/// The vector of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryVector {
    values: Vec<i16>,
    scale: f32,
}

impl QueryVector {
    /// Returns `None` for a vector without direction.
    pub(super) fn new(vector: &[f32]) -> Option<Self> {
        let (values, scale) = scaled(vector)?;
        Some(Self { values: values.map(|value| value as i16).collect(), scale })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// Returns the cosine with a stored vector.
    pub(super) fn cosine(&self, row: &[u8]) -> f32 {
        let Some((scale, values)) = row.split_first_chunk::<SCALE_BYTES>() else { return 0.0 };
        let products = self.values.iter().zip(values);
        let sum: i32 = products
            .map(|(query, value)| i32::from(*query) * i32::from(i16::from(value.cast_signed())))
            .sum();
        sum as f32 * self.scale * f32::from_le_bytes(*scale)
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryVector, quantize};

    #[test]
    fn cosine_of_quantized_vectors_is_close_to_the_exact_one() {
        let vector = |seed: u32| -> Vec<f32> {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            };
            (0..384).map(|_| 7.0 * next()).collect()
        };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        for seed in 0..50 {
            let (a, b) = (vector(seed), vector(seed + 1_000));
            let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let found = QueryVector::new(&a).unwrap().cosine(&quantize(&b).unwrap());
            assert!((found - exact).abs() < 0.004, "{found} for {exact}");
        }
        let vector = vector(1);
        let same = QueryVector::new(&vector).unwrap().cosine(&quantize(&vector).unwrap());
        assert!((same - 1.0).abs() < 0.004, "{same}");
    }

    #[test]
    fn vectors_without_direction_are_rejected() {
        for vector in [vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], Vec::new()] {
            assert!(quantize(&vector).is_none() && QueryVector::new(&vector).is_none(), "{vector:?}");
        }
    }
}
