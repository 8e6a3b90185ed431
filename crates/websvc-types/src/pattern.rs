//! Regular expressions of the schemas, in the ECMA-262 dialect of JSON Schema.
//!
//! Each accepts the same values as the validator, except where its documentation says otherwise.

/// String with at least one character that is not Unicode white space.
pub const NOT_BLANK: &str =
    r"[^\u0009-\u000D\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]";

/// Language tag in the grammar of RFC 5646, section 2.1: language, extended languages, script, region, variants,
/// extensions and private use; or private use alone. Underscores count as hyphens.
pub const LANGUAGE: &str = concat!(
    "^([A-Za-z]{2,3}([-_][A-Za-z]{3}){0,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?",
    "([-_]([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*([-_][0-9A-WY-Za-wy-z]([-_][A-Za-z0-9]{2,8})+)*",
    "([-_][Xx]([-_][A-Za-z0-9]{1,8})+)?|[Xx]([-_][A-Za-z0-9]{1,8})+)$"
);

/// Name of an HTTP header (RFC 9110, section 5.1).
pub const HEADER_NAME: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

/// Value of an HTTP header (RFC 9110, section 5.5): no control characters except the tab. Non-ASCII values are sent as
/// UTF-8.
pub const HEADER_VALUE: &str = r"^[^\u0000-\u0008\u000A-\u001F\u007F]*$";

/// Text of printable ASCII characters.
pub const PRINTABLE_ASCII: &str = "^[ -~]*$";

/// Any amount of Unicode white space.
macro_rules! space {
    () => {
        r"[\u0009-\u000D\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*"
    };
}

/// Item of a time filter.
macro_rules! tbs_item {
    () => {
        concat!(
            "(qdr:[hdwmy](0{0,3}[1-9]|0{0,2}[1-9][0-9]|0?[1-9][0-9]{2}|[1-9][0-9]{3})?|sbd:1|cdr:1|",
            "cd_(min|max):((0?[1-9]|1[0-2])/(0?[1-9]|[12][0-9]|3[01])/",
            "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))?)"
        )
    };
}

/// Time filter (specification, section 2.4): items separated by commas, or the empty string.
///
/// The pattern does not check whether the items can be combined, or whether a day exists in its month.
pub const TBS: &str =
    concat!("^", space!(), "(", tbs_item!(), space!(), "(,", space!(), tbs_item!(), space!(), ")*)?$");

/// UUID in its usual form (RFC 9562, section 4), of any version.
pub const UUID: &str = "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$";

/// Code of an issue or tag of feedback, at most 80 characters.
pub const FEEDBACK_CODE: &str = "^[a-z0-9_-]{1,80}$";
