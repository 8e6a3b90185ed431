//! The files of the library, which are part of this program.

/// The files that run in the engine, in the order of their dependencies. They share one scope.
const ENGINE: &[&str] = &[
    include_str!("../library/host/inspect.js"),
    include_str!("../library/host/console.js"),
    include_str!("../library/host/timers.js"),
    include_str!("../library/host/buffer.js"),
    include_str!("../library/host/url.js"),
    include_str!("../library/api/errors.js"),
    include_str!("../library/api/emitter.js"),
    include_str!("../library/api/connection.js"),
    include_str!("../library/api/serialize.js"),
    include_str!("../library/api/world.js"),
    include_str!("../library/selector/parse.js"),
    include_str!("../library/selector/build.js"),
    include_str!("../library/api/handle.js"),
    include_str!("../library/api/target.js"),
    include_str!("../library/api/locator.js"),
    include_str!("../library/api/frame.js"),
    include_str!("../library/api/frame_actions.js"),
    include_str!("../library/api/keys.js"),
    include_str!("../library/api/input.js"),
    include_str!("../library/api/network.js"),
    include_str!("../library/api/page_events.js"),
    include_str!("../library/api/page.js"),
    include_str!("../library/api/context.js"),
    include_str!("../library/api/expose.js"),
    include_str!("../library/bash/parse.js"),
    include_str!("../library/bash/snapshot.js"),
    include_str!("../library/bash/verbs.js"),
    include_str!("../library/bash/more_verbs.js"),
    include_str!("../library/bash/run.js"),
    include_str!("../library/main.js"),
];

/// The files that run in the pages. They share one scope.
const PAGE: &[&str] = &[
    include_str!("../library/page/dom.js"),
    include_str!("../library/page/text.js"),
    include_str!("../library/page/css.js"),
    include_str!("../library/page/roles.js"),
    include_str!("../library/page/name.js"),
    include_str!("../library/page/query.js"),
    include_str!("../library/page/act.js"),
    include_str!("../library/page/snapshot.js"),
    include_str!("../library/page/library.js"),
];

/// Returns the library: the source of a function of the host object and of the source for the pages.
pub(crate) fn source() -> String {
    format!("(function (host, pageSource) {{\n'use strict';\n{}\n}})", ENGINE.join("\n"))
}

/// Returns the part of the library that runs in the pages: the source of an object with its functions.
///
/// A page that has it already keeps it, with the references of the last snapshot.
pub(super) fn page_source() -> String {
    format!("(() => {{\n'use strict';\n{}\nreturn new PageLibrary();\n}})()", PAGE.join("\n"))
}
