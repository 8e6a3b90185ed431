//! Path of a value in a body.

/// A place in a body, as a list that grows on the stack while the body is walked: a path costs nothing until
/// [`Report`](crate::report::Report) writes it down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The whole body.
    Root,
    /// A field.
    Key(&'a Path<'a>, &'a str),
    /// An item of an array.
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// Returns the path of a field.
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    /// Returns the path of an item.
    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}
