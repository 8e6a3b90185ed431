//! The documented formats of keys and tokens.

/// The characters of the body of a token.
#[derive(Debug, Clone, Copy)]
enum Body {
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// The characters of base64 and base64url.
    Base64,
    /// Letters, digits, `_`, `-`, `.` and `/`.
    Path,
}

/// The format of a token: a prefix and a body of limited length.
struct Format {
    prefix: &'static str,
    body: Body,
    min_length: usize,
    max_length: usize,
}

const fn format(prefix: &'static str, body: Body, min_length: usize, max_length: usize) -> Format {
    Format { prefix, body, min_length, max_length }
}

/// The known formats, sorted by their first letters, as [`BY_FIRST`] requires.
const FORMATS: &[Format] = &[
    format("AGE-SECRET-KEY-1", Body::Upper, 50, 64),
    format("AIza", Body::Word, 35, 35),
    format("AKIA", Body::Upper, 16, 16),
    format("ASIA", Body::Upper, 16, 16),
    format("ATATT3", Body::Base64, 80, 260),
    format("ATCTT3", Body::Base64, 80, 260),
    format("EAAA", Body::Word, 50, 80),
    format("GOCSPX-", Body::Word, 20, 40),
    format("LTAI", Body::Alnum, 12, 24),
    format("NRAK-", Body::Upper, 27, 27),
    format("PMAK-", Body::Word, 50, 70),
    format("SG.", Body::Dotted, 60, 80),
    format("SK", Body::Hex, 32, 32),
    format("dapi", Body::Hex, 32, 34),
    format("dckr_pat_", Body::Word, 20, 40),
    format("discord.com/api/webhooks/", Body::Path, 60, 120),
    format("doo_v1_", Body::Hex, 64, 64),
    format("dop_v1_", Body::Hex, 64, 64),
    format("dor_v1_", Body::Hex, 64, 64),
    format("dp.pt.", Body::Alnum, 40, 48),
    format("eyJ", Body::Dotted, 30, 8000),
    format("fc-", Body::Hex, 32, 32),
    format("figd_", Body::Word, 36, 60),
    format("fo1_", Body::Word, 40, 50),
    format("ghb_", Body::Alnum, 36, 251),
    format("gho_", Body::Alnum, 36, 251),
    format("ghp_", Body::Alnum, 36, 251),
    format("ghr_", Body::Alnum, 36, 251),
    format("ghs_", Body::Word, 36, 400),
    format("ghu_", Body::Alnum, 36, 251),
    format("github_pat_", Body::Word, 60, 251),
    format("gldt-", Body::Word, 20, 64),
    format("glpat-", Body::Dotted, 20, 320),
    format("glrt-", Body::Word, 20, 64),
    format("glsa_", Body::Word, 36, 48),
    format("gsk_", Body::Alnum, 40, 64),
    format("hf_", Body::Alnum, 30, 40),
    format("hvs.", Body::Word, 24, 200),
    format("hooks.slack.com/services/", Body::Path, 40, 60),
    format("lin_api_", Body::Alnum, 32, 48),
    format("npm_", Body::Alnum, 36, 36),
    format("nvapi-", Body::Word, 50, 80),
    format("ops_eyJ", Body::Base64, 100, 2000),
    format("pat-eu1-", Body::Word, 36, 36),
    format("pat-na1-", Body::Word, 36, 36),
    format("phc_", Body::Alnum, 40, 48),
    format("phx_", Body::Alnum, 40, 48),
    format("pplx-", Body::Alnum, 40, 64),
    format("pul-", Body::Hex, 40, 40),
    format("pypi-AgE", Body::Word, 50, 400),
    format("r8_", Body::Alnum, 36, 40),
    format("rk_live_", Body::Alnum, 20, 120),
    format("rk_test_", Body::Alnum, 20, 120),
    format("rubygems_", Body::Hex, 48, 48),
    format("sbp_", Body::Hex, 40, 40),
    format("secret_", Body::Alnum, 40, 50),
    format("shpat_", Body::Hex, 32, 32),
    format("shpca_", Body::Hex, 32, 32),
    format("shppa_", Body::Hex, 32, 32),
    format("shpss_", Body::Hex, 32, 32),
    format("sk-", Body::Word, 32, 220),
    format("sk_live_", Body::Alnum, 20, 120),
    format("sk_test_", Body::Alnum, 20, 120),
    format("sntrys_", Body::Base64, 60, 400),
    format("sq0atp-", Body::Word, 22, 22),
    format("sq0csp-", Body::Word, 43, 43),
    format("sqp_", Body::Hex, 40, 40),
    format("tskey-", Body::Word, 20, 80),
    format("tvly-", Body::Word, 28, 64),
    format("whsec_", Body::Base64, 24, 80),
    format("xai-", Body::Alnum, 60, 100),
    format("xapp-", Body::Word, 40, 200),
    format("xoxa-", Body::Word, 20, 200),
    format("xoxb-", Body::Word, 20, 200),
    format("xoxe.", Body::Dotted, 20, 300),
    format("xoxo-", Body::Word, 20, 200),
    format("xoxp-", Body::Word, 20, 200),
    format("xoxr-", Body::Word, 20, 200),
    format("xoxs-", Body::Word, 20, 200),
    format("ya29.", Body::Word, 30, 400),
];

/// The range of the formats that start with a letter, by letter.
const BY_FIRST: [(u8, u8); 128] = {
    let mut index = [(0, 0); 128];
    let mut at = 0;
    while at < FORMATS.len() {
        let first = FORMATS[at].prefix.as_bytes()[0] as usize;
        if index[first].1 == 0 {
            index[first].0 = at as u8;
        }
        index[first].1 = at as u8 + 1;
        at += 1;
    }
    index
};

/// Returns the length of the token at the start of a text.
pub(super) fn token_length(bytes: &[u8]) -> Option<usize> {
    if bytes.first()?.is_ascii_digit() {
        return telegram_length(bytes);
    }
    let (from, to) = *BY_FIRST.get(usize::from(*bytes.first()?))?;
    let formats = &FORMATS[usize::from(from)..usize::from(to)];
    formats.iter().filter(|format| has_prefix(bytes, format.prefix.as_bytes())).find_map(|format| {
        let start = format.prefix.len();
        let body = &bytes[start..];
        let length = body.iter().take(format.max_length + 1).take_while(|b| is_in(format.body, **b)).count();
        // Marks at the end belong to the sentence.
        let marks = body[..length].iter().rev().take_while(|b| matches!(b, b'.' | b'-' | b'/')).count();
        let length = length - marks;
        let body = &body[..length];
        let has_structure = format.prefix != "eyJ" || is_jwt(body);
        let has_length = (format.min_length..=format.max_length).contains(&length);
        (has_length && has_structure && is_varied(body)).then_some(start + length)
    })
}

/// Returns whether a text starts with a prefix of at least two letters. The second letter is compared first, because
/// most texts differ in it.
fn has_prefix(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(1) == prefix.get(1) && bytes.starts_with(prefix)
}

/// Returns whether a body may contain a byte.
fn is_in(body: Body, b: u8) -> bool {
    match body {
        Body::Word => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
        Body::Alnum => b.is_ascii_alphanumeric(),
        Body::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
        Body::Hex => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
        Body::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'),
        Body::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'='),
        Body::Path => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'),
    }
}

/// Returns whether the body has digits and letters, as random text does; `sk-cube-grid-with-a-long-name` does not.
fn is_varied(body: &[u8]) -> bool {
    let digits = body.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = body.iter().filter(|b| b.is_ascii_alphabetic()).count();
    digits >= 1 && letters >= 2 && body.iter().any(|b| *b != body[0])
}

/// Returns whether header, payload and signature are present (RFC 7519); the payload is an object.
fn is_jwt(body: &[u8]) -> bool {
    let parts: Vec<&[u8]> = body.split(|&b| b == b'.').take(4).collect();
    matches!(parts.as_slice(), [_, payload, ..] if payload.starts_with(b"ey") && payload.len() >= 8)
}

/// Returns the length of a token of a Telegram bot: its number, a colon, and 35 characters.
fn telegram_length(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take(12).take_while(|b| b.is_ascii_digit()).count();
    let body = bytes.get(digits..)?.strip_prefix(b":AA")?;
    let length = body.iter().take(40).take_while(|b| is_in(Body::Word, **b)).count();
    ((8..=10).contains(&digits) && length == 33).then_some(digits + 3 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_sorted_by_first_letter() {
        assert!(FORMATS.is_sorted_by_key(|format| format.prefix.as_bytes()[0]));
    }
}
