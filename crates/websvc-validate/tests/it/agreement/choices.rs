//! Source of choices for property tests.

/// Choices made from bytes, one after the other. When no bytes are left, every choice is the first option.
///
/// proptest shrinks the bytes, and so the generated value.
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

    /// Returns true once in `times` on average, and false when no bytes are left.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(super) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}
