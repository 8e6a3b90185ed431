//! `evaluate-agent`: runs the tasks of the agent and prints a table or JSON. `cargo xtask eval agent` starts it.

fn main() {}
