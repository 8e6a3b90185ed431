//! Replays the corpus: inputs that once found a bug, or that are examples of a rule.

use std::panic::catch_unwind;
use std::path::Path;

/// Runs the check of a fuzz target on every input of its corpus.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../websvc-fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the corpus of the target must exist");
    let inputs: Vec<_> = entries.map(|entry| entry.expect("the corpus must be readable").path()).collect();
    assert!(inputs.len() >= 20, "the corpus has only {} inputs", inputs.len());
    for input in inputs {
        let data = std::fs::read(&input).expect("the input must be readable");
        assert!(catch_unwind(|| check(&data)).is_ok(), "{} fails, see above", input.display());
    }
}
