//! How the program is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The loader reads a table of every address in the program's constants when it starts. Packed, the table takes some
    // kilobytes instead of two megabytes, of the file and of the memory of every process. Linkers that do not know the
    // option say so and go on.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        for target in ["bins", "examples"] {
            println!("cargo::rustc-link-arg-{target}=-Wl,-z,pack-relative-relocs");
        }
    }
}

fn is(variable: &str, value: &str) -> bool {
    std::env::var(variable).is_ok_and(|found| found == value)
}
