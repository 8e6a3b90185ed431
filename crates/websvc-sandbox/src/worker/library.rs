//! The files of the library, which are part of this program.

/// The files that run in the engine, in the order of their dependencies. They share one scope.
const ENGINE: &[&str] = &[
];

/// The files that run in the pages. They share one scope.
const PAGE: &[&str] = &[
];

/// Returns the library: the source of a function of the host object and of the source for the pages.
pub(super) fn source() -> String {
    format!("(function (host, pageSource) {{\n'use strict';\n{}\n}})", ENGINE.join("\n"))
}

/// Returns the part of the library that runs in the pages: the source of an object with its functions.
///
/// A page that has it already keeps it, with the references of the last snapshot.
pub(super) fn page_source() -> String {
    format!("(() => {{\n'use strict';\n{}\nreturn new PageLibrary();\n}})()", PAGE.join("\n"))
}
