//! Names of enum variants in the database.

/// Gives the variants of an enum their names in the database.
macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal),* $(,)?) => {
        impl $type {
            /// Returns the name in the database.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl $crate::sql::FromSql for $type {
            fn from_sql(value: $crate::sql::ValueRef<'_>) -> Result<Self, $crate::sql::ValueError> {
                match value {
                    $($crate::sql::ValueRef::Text($name) => Ok(Self::$variant),)*
                    other => Err($crate::sql::ValueError::Type {
                        expected: stringify!($type),
                        found: other.type_name(),
                    }),
                }
            }
        }
    };
}
pub(crate) use names;
