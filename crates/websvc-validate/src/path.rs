//! Path of a value in a body.

/// Path of a value in a body: a linked list on the stack of the walk. It allocates nothing until
/// [`Report`](crate::report::Report) converts it to text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// Whole body.
    Root,
    /// Field of an object.
    Key(&'a Path<'a>, &'a str),
    /// Item of an array.
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
