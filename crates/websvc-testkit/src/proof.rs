//! Proofs: tests that take long. The gate runs a part of each; `cargo xtask proof` runs the whole, before a release.

/// Environment variable that `cargo xtask proof` sets.
const VARIABLE: &str = "WEBSVC_TEST_PROOF";

/// Returns whether tests run whole.
#[must_use]
pub fn is_proof() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Returns the size of a test: in the gate, or of the whole.
pub fn scaled<T>(in_gate: T, whole: T) -> T {
    if is_proof() { whole } else { in_gate }
}
