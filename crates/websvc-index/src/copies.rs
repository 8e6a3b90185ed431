//! The rule by which two texts are copies, for the embedded index and for an index on a server.

/// Minimum words of texts that can be copies. Shorter texts are often equal by chance.
pub const MIN_COPY_WORDS: u32 = 16;

/// Number of words in a shingle, the unit in which texts are compared.
pub const SHINGLE_WORDS: usize = 4;

/// Minimum share of common shingles of copies.
pub const MIN_RESEMBLANCE: f64 = 0.85;

/// Copies differ in length by at most one word in this many.
const LENGTH_TOLERANCE: u32 = 20;

/// Returns whether texts of so many words can be copies.
#[must_use]
pub fn can_be_copies(words: u32, other: u32) -> bool {
    let shorter = words.min(other);
    shorter >= MIN_COPY_WORDS && words.abs_diff(other) <= shorter / LENGTH_TOLERANCE
}
