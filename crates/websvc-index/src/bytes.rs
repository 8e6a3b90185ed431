//! Encoding of numbers and texts in stored documents. Reading damaged bytes returns `None` and never panics.

use jiff::Timestamp;

/// Writes a number as LEB128, in which small numbers take fewer bytes.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_optional(out: &mut Vec<u8>, text: Option<&str>) {
    out.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_text(out, text);
    }
}

/// Writes optional Unix seconds.
pub(crate) fn put_seconds(out: &mut Vec<u8>, seconds: Option<i64>) {
    // The addition cannot overflow: `Timestamp` ends with the year 9999.
    put(out, seconds.map_or(0, |seconds| zigzag(seconds) + 1));
}

/// Writes an optional time with nanoseconds.
pub(crate) fn put_time(out: &mut Vec<u8>, time: Option<Timestamp>) {
    put_seconds(out, time.map(Timestamp::as_second));
    if let Some(time) = time {
        put(out, zigzag(i64::from(time.subsec_nanosecond())));
    }
}

/// Writes an optional width or height in pixels.
pub(crate) fn put_dimension(out: &mut Vec<u8>, pixels: Option<u32>) {
    put(out, pixels.map_or(0, |pixels| u64::from(pixels) + 1));
}

/// A reader that takes values from the front of a byte slice.
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads the number of the following items, or the length of the next one. Since each item has at least one byte, a
    /// number above that of the remaining bytes is damage.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    pub(crate) fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (slice, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(slice)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        Some(*self.slice(1)?.first()? != 0)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let len = self.count()?;
        std::str::from_utf8(self.slice(len)?).ok()
    }

    pub(crate) fn optional(&mut self) -> Option<Option<&'a str>> {
        if self.flag()? { Some(Some(self.text()?)) } else { Some(None) }
    }

    pub(crate) fn seconds(&mut self) -> Option<Option<i64>> {
        Some(self.number()?.checked_sub(1).map(unzigzag))
    }

    pub(crate) fn time(&mut self) -> Option<Option<Timestamp>> {
        let Some(seconds) = self.seconds()? else {
            return Some(None);
        };
        let nanoseconds = i32::try_from(unzigzag(self.number()?)).ok()?;
        Timestamp::new(seconds, nanoseconds).ok().map(Some)
    }

    pub(crate) fn dimension(&mut self) -> Option<Option<u32>> {
        Some(self.number()?.checked_sub(1).and_then(|pixels| u32::try_from(pixels).ok()))
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
