//! Functions of numbers that are applied to whole matrices. They are polynomials without branches and calls, so that the
//! compiler makes vector instructions of their loops.

/// Returns the exponential of numbers up to 88, with a relative error below 1e-6.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding this rounds to an integer, without a call.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let power = x * std::f32::consts::LOG2_E + ROUND - ROUND;
    // The natural logarithm of 2 in two parts, so that the rest is exact.
    let rest = x - power * 0.693_359_4 + power * 2.121_944_4e-4;
    let tail = 8.333_452e-3 + rest * (1.388_89e-3 + rest * 1.984_127e-4);
    let polynomial =
        1.0 + rest * (1.0 + rest * (0.5 + rest * (0.166_666_66 + rest * (4.166_666_6e-2 + rest * tail))));
    polynomial * f32::from_bits(((power as i32 + 127) << 23).cast_unsigned())
}

/// Returns `x` times the probability of a normal variable below `x`, the activation GELU, with an error below 1e-6.
#[inline]
pub(crate) fn gelu(x: f32) -> f32 {
    // Formula 7.1.26 of Abramowitz and Stegun for the error function.
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let sum =
        t * (0.254_829_6 + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = 1.0 - sum * exp(-z * z);
    0.5 * (x + x.abs() * erf)
}

/// Replaces numbers by their softmax.
pub(crate) fn softmax(row: &mut [f32]) {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|value| *value = exp(*value - max));
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// Divides a vector by its length, unless that is zero.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::{exp, gelu, softmax};

    #[test]
    fn exponential_is_close_to_that_of_the_library() {
        for step in -860..=860 {
            let x = step as f32 / 10.0;
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((found / expected - 1.0).abs() < 2e-6, "{x}: {found} for {expected}");
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn activation_is_that_of_the_normal_distribution() {
        // Computed with scipy: x * norm.cdf(x).
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (2.5, 2.484_475_8),
            (-3.0, -0.004_049_7),
            (9.0, 9.0),
        ] {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn softmax_of_large_numbers_is_finite() {
        let mut row = [1_000.0, 1_000.0, -1_000.0];
        softmax(&mut row);
        assert!((row[0] - 0.5).abs() < 1e-6 && row[2] < 1e-30, "{row:?}");
    }
}
