//! The elements that this crate has rules for, as one-byte names that a `match` compiles to a jump table.

use html5ever::{LocalName, local_name};

macro_rules! tags {
    ($($variant:ident $name:tt,)*) => {
        /// The name of an element; `Other` for names without rules.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Tag { $($variant,)* Other }

        impl Tag {
            /// Returns the tag for an element's local name.
            pub(crate) fn from_name(name: &LocalName) -> Tag {
                match *name {
                    $(local_name!($name) => Tag::$variant,)*
                    _ => Tag::Other,
                }
            }
        }
    };
}

tags! {
    A "a", Abbr "abbr", Address "address", Annotation "annotation", AnnotationXml "annotation-xml",
    Article "article", Aside "aside", Audio "audio", B "b", Base "base", Blockquote "blockquote",
    Body "body", Br "br", Button "button", Canvas "canvas", Caption "caption", Center "center", Cite "cite",
    Code "code", Col "col", Colgroup "colgroup", Dd "dd", Del "del", Details "details", Dialog "dialog",
    Dfn "dfn", Dir "dir", Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed", Fieldset "fieldset",
    Figcaption "figcaption", Figure "figure", Font "font", Footer "footer", Form "form", Frame "frame",
    Frameset "frameset", H1 "h1", H2 "h2", H3 "h3", H4 "h4", H5 "h5", H6 "h6", Head "head", Header "header",
    Hgroup "hgroup", Hr "hr", Html "html", I "i", Iframe "iframe", Img "img", Input "input", Ins "ins",
    Kbd "kbd", Label "label", Legend "legend", Li "li", Link "link", Main "main", Mark "mark", Math "math",
    Menu "menu", Meta "meta", Nav "nav", Noembed "noembed", Noframes "noframes", Noscript "noscript",
    Object "object", Ol "ol", Optgroup "optgroup", Choice "option", P "p", Param "param",
    Picture "picture", Pre "pre", Progress "progress", Q "q", Rp "rp", Rt "rt", Ruby "ruby", S "s",
    Samp "samp", Script "script", Search "search", Section "section", Select "select", Small "small",
    Source "source", Span "span", Strike "strike", Strong "strong", Style "style", Sub "sub",
    Summary "summary", Sup "sup", Svg "svg", Table "table", Tbody "tbody", Td "td", Template "template",
    Textarea "textarea", Tfoot "tfoot", Th "th", Thead "thead", Time "time", Title "title", Tr "tr",
    Track "track", Tt "tt", U "u", Ul "ul", Var "var", Video "video", Wbr "wbr",
}

impl Tag {
    /// Returns the level of a heading element, 1 to 6.
    pub(crate) fn heading_level(self) -> Option<usize> {
        Some(match self {
            Tag::H1 => 1,
            Tag::H2 => 2,
            Tag::H3 => 3,
            Tag::H4 => 4,
            Tag::H5 => 5,
            Tag::H6 => 6,
            _ => return None,
        })
    }

    /// Returns whether browsers display the element as a block by default.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Address
                | Article
                | Aside
                | Blockquote
                | Body
                | Caption
                | Center
                | Dd
                | Details
                | Dialog
                | Dir
                | Div
                | Dl
                | Dt
                | Fieldset
                | Figcaption
                | Figure
                | Footer
                | Form
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Header
                | Hgroup
                | Hr
                | Html
                | Legend
                | Li
                | Main
                | Menu
                | Nav
                | Ol
                | P
                | Pre
                | Search
                | Section
                | Summary
                | Table
                | Tbody
                | Td
                | Tfoot
                | Th
                | Thead
                | Tr
                | Ul
                | Optgroup
                | Choice
        )
    }

    /// Returns whether the element has no content in HTML (`<br>`, `<img>`, ...).
    pub(crate) fn is_void(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Base | Br | Col | Embed | Frame | Hr | Img | Input | Link | Meta | Param | Source | Track | Wbr
        )
    }

    /// Returns whether browsers never show the content of the element as text.
    pub(crate) fn is_invisible(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Head | Script
                | Style
                | Template
                | Noscript
                | Noframes
                | Noembed
                | Title
                | Meta
                | Link
                | Base
                | Param
                | Source
                | Track
                | Textarea
                | Select
                | Input
                | Iframe
                | Object
                | Embed
                | Canvas
                | Audio
                | Video
                | Progress
                | Svg
                | Frameset
                | Frame
                | Col
                | Colgroup
                | Rp
        )
    }
}
