//! The headers of a body of several parts, and of its parts.

/// The longest boundary (RFC 2046, section 5.1.1).
const BOUNDARY_MAX_CHARS: usize = 70;

/// A part of a body, before its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of the field.
    pub(crate) name: String,
    /// The name of the file, as it was sent: it may be anything.
    pub(crate) file_name: Option<String>,
    /// The media type of the content.
    pub(crate) media_type: Option<String>,
}

/// Returns the boundary of a body of this type; `None` when it is not one of several parts.
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let (essence, parameters) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = Parameters(parameters).find(|(name, _)| name == "boundary")?.1;
    let is_one = !boundary.is_empty()
        && boundary.len() <= BOUNDARY_MAX_CHARS
        && boundary.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && !boundary.ends_with(' ');
    is_one.then_some(boundary)
}

/// Reads the headers of a part; `None` when it has no name.
pub(super) fn part(lines: &[u8]) -> Option<Part> {
    let text = String::from_utf8_lossy(lines);
    let (mut disposition, mut media_type) = (None, None);
    for line in text.split("\r\n") {
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.trim().to_ascii_lowercase().as_str() {
            "content-disposition" => disposition = Some(value.trim()),
            "content-type" => media_type = Some(value.trim().to_owned()).filter(|value| !value.is_empty()),
            _ => {}
        }
    }
    let (kind, parameters) = disposition?.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return None;
    }
    let (mut name, mut file_name, mut extended) = (None, None, None);
    for (parameter, value) in Parameters(parameters) {
        match parameter.as_str() {
            "name" => name = Some(value),
            "filename" => file_name = Some(value),
            "filename*" => extended = decoded(&value),
            _ => {}
        }
    }
    Some(Part { name: name?, file_name: extended.or(file_name), media_type })
}

/// Reads the extended form of a value (RFC 8187): `UTF-8''caf%C3%A9.pdf`.
fn decoded(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, text) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// The parameters of a header's value: names in lower case with their values, quotes taken off.
struct Parameters<'a>(&'a str);

impl Iterator for Parameters<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_start_matches([' ', '\t', ';']);
        let (name, value) = rest.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        let value = value.trim_start();
        let Some(quoted) = value.strip_prefix('"') else {
            let end = value.find(';').unwrap_or(value.len());
            self.0 = &value[end..];
            return Some((name, value[..end].trim().to_owned()));
        };
        let (mut text, mut signs) = (String::new(), quoted.char_indices());
        let mut end = quoted.len();
        while let Some((at, sign)) = signs.next() {
            match sign {
                '"' => {
                    end = at + 1;
                    break;
                }
                // Browsers do not escape backslashes of Windows, so only a quote or another one may follow.
                '\\' if quoted[at + 1..].starts_with(['"', '\\']) => {
                    text.extend(signs.next().map(|(_, sign)| sign));
                }
                sign => text.push(sign),
            }
        }
        self.0 = &quoted[end..];
        Some((name, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_one_of_form_data_alone() {
        for (given, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"", Some("a b")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=\"a\r\nb\"", None),
            ("multipart/mixed; boundary=abc", None),
            ("application/json; boundary=abc", None),
        ] {
            assert_eq!(boundary(given).as_deref(), expected, "{given}");
        }
        assert_eq!(boundary(&format!("multipart/form-data; boundary={}", "a".repeat(71))), None);
    }

    #[test]
    fn a_part_has_the_names_that_clients_send() {
        let check = |header: &str, name: Option<&str>, file: Option<&str>| {
            let lines = format!("\r\ncontent-disposition: {header}\r\nContent-Type: text/html");
            let read = part(lines.as_bytes());
            assert_eq!(read.as_ref().map(|part| part.name.as_str()), name, "{header}");
            assert_eq!(read.and_then(|part| part.file_name).as_deref(), file, "{header}");
        };
        check("form-data; name=\"file\"; filename=\"a.pdf\"", Some("file"), Some("a.pdf"));
        check("form-data; name=file; filename=a.pdf", Some("file"), Some("a.pdf"));
        check("form-data; name=\"file\"; filename=\"a \\\"b\\\".pdf\"", Some("file"), Some("a \"b\".pdf"));
        check("form-data; name=\"file\"; filename=\"C:\\tmp\\a.pdf\"", Some("file"), Some("C:\\tmp\\a.pdf"));
        check(
            "form-data; name=\"file\"; filename=\"x\"; filename*=UTF-8''caf%C3%A9%.pdf",
            Some("file"),
            Some("café%.pdf"),
        );
        check("form-data; name=\"options\"", Some("options"), None);
        check("form-data; filename=\"a.pdf\"", None, None);
        check("attachment; name=\"file\"", None, None);
        check("form-data; name=\"never ends", Some("never ends"), None);
    }
}
