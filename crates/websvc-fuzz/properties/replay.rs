//! The inputs that are kept: what found a mistake, or stands for a rule.

use std::panic::catch_unwind;
use std::path::Path;

/// Checks every input of a target, as its fuzz target does.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../websvc-fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the folder of the target is in the tree");
    let inputs: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    assert!(inputs.len() >= 20, "{} inputs are no corpus", inputs.len());
    for input in inputs {
        let data = std::fs::read(&input).expect("an input is a file");
        assert!(catch_unwind(|| check(&data)).is_ok(), "{} fails, see above", input.display());
    }
}
