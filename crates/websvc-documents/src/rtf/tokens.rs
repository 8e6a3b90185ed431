//! Splits an RTF file into groups, control words and bytes of text.

/// A token of an RTF file.
pub(super) enum Token<'t> {
    Open,
    Close,
    Word(&'t str, Option<i32>),
    /// A control symbol such as `\~`.
    Symbol(u8),
    Byte(u8),
}

/// The tokens of an RTF file.
pub(super) struct Tokens<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) position: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(match byte {
            b'{' => Token::Open,
            b'}' => Token::Close,
            b'\\' => self.control()?,
            b'\r' | b'\n' => return self.skip_breaks(),
            other => Token::Byte(other),
        })
    }

    fn skip_breaks(&mut self) -> Option<Token<'t>> {
        while matches!(self.bytes.get(self.position), Some(b'\r' | b'\n')) {
            self.position += 1;
        }
        self.next()
    }

    fn control(&mut self) -> Option<Token<'t>> {
        let first = *self.bytes.get(self.position)?;
        if first == b'\'' {
            let digits = self.bytes.get(self.position + 1..self.position + 3)?;
            self.position += 3;
            let text = std::str::from_utf8(digits).unwrap_or_default();
            return Some(u8::from_str_radix(text, 16).map_or(Token::Symbol(b'\''), Token::Byte));
        }
        if !first.is_ascii_alphabetic() {
            self.position += 1;
            return Some(Token::Symbol(first));
        }
        let word = self.take_while(u8::is_ascii_alphabetic);
        let start = self.position;
        if self.bytes.get(self.position) == Some(&b'-') {
            self.position += 1;
        }
        self.take_while(u8::is_ascii_digit);
        let number =
            std::str::from_utf8(&self.bytes[start..self.position]).ok().and_then(|text| text.parse().ok());
        if self.bytes.get(self.position) == Some(&b' ') {
            self.position += 1;
        }
        // Binary data, which may contain any byte.
        if word == "bin" {
            let length = number.and_then(|length: i32| usize::try_from(length).ok()).unwrap_or(0);
            self.position = self.position.saturating_add(length).min(self.bytes.len());
        }
        Some(Token::Word(word, number))
    }

    fn take_while(&mut self, matches: fn(&u8) -> bool) -> &'t str {
        let start = self.position;
        while self.bytes.get(self.position).is_some_and(matches) {
            self.position += 1;
        }
        std::str::from_utf8(&self.bytes[start..self.position]).unwrap_or_default()
    }
}
