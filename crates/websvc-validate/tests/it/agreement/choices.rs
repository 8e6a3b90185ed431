//! A source of decisions that a property test can shrink.

/// Bytes that are used up, decision by decision; when they are gone every decision is the first.
///
/// proptest shrinks the bytes, and with them what was made of them.
pub(super) struct Choices<'b>(&'b [u8]);

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    fn byte(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    /// Returns a number below `bound`, which is above 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let mut number = self.byte();
        if bound > 256 {
            number |= self.byte() << 8;
        }
        number % bound
    }

    /// Returns true once in `times`, on average; never when the bytes are gone.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(super) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}
