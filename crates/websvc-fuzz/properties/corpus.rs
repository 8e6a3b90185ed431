//! The inputs that are kept: what found a mistake, or stands for a rule.

use std::path::Path;

/// Checks every input of a target; the one that fails is the last that is named in the output of the test.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../websvc-fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the folder of the target is in the tree");
    let mut inputs: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    inputs.sort();
    assert!(inputs.len() >= 20, "{} inputs are no corpus", inputs.len());
    for input in inputs {
        println!("{}", input.display());
        check(&std::fs::read(&input).expect("an input is a file"));
    }
}
