//! Seam to the program that compiles schemas, which is too large for a crate that clients use.

use serde_json::{Map, Value};

/// Function that compiles a schema.
type Compile = fn(&Map<String, Value>) -> Result<(), SchemaError>;

/// Compiler of the JSON Schemas of requests. The default one accepts every schema.
#[derive(Debug, Clone, Copy, Default)]
pub struct SchemaCompiler(Option<Compile>);

/// Error of a schema that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON Pointer of the wrong part in the schema.
    pub pointer: String,
    /// The rule that the part breaks, without a subject: `must be ...`.
    pub message: String,
}

impl SchemaCompiler {
    /// Creates a compiler from a function, whose work must be bounded.
    #[must_use]
    pub const fn new(compile: fn(&Map<String, Value>) -> Result<(), SchemaError>) -> Self {
        Self(Some(compile))
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// The part that cannot be compiled.
    pub(super) fn compile(self, schema: &Map<String, Value>) -> Result<(), SchemaError> {
        self.0.map_or(Ok(()), |compile| compile(schema))
    }
}

/// Compilers are equal if they call the same function.
impl PartialEq for SchemaCompiler {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Some(one), Some(other)) => std::ptr::fn_addr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl Eq for SchemaCompiler {}
