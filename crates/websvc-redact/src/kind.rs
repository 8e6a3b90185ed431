//! The kinds of personal data.

/// A kind of personal data (specification, section 2.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Passwords, keys and tokens.
    Secret,
    /// Mail addresses.
    Email,
    /// Card, account, tax and social security numbers.
    Financial,
    /// Telephone numbers.
    Phone,
    /// Addresses and places.
    Location,
    /// Names of people.
    Person,
}

impl Kind {
    /// All kinds. Where findings overlap, the first kind wins, because its rules are more certain.
    pub const ALL: [Self; 6] =
        [Self::Secret, Self::Email, Self::Financial, Self::Phone, Self::Location, Self::Person];

    /// Returns the name, such as `EMAIL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secret => "SECRET",
            Self::Email => "EMAIL",
            Self::Financial => "FINANCIAL",
            Self::Phone => "PHONE",
            Self::Location => "LOCATION",
            Self::Person => "PERSON",
        }
    }

    /// Returns the replacement of a finding, such as `<EMAIL>`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Secret => "<SECRET>",
            Self::Email => "<EMAIL>",
            Self::Financial => "<FINANCIAL>",
            Self::Phone => "<PHONE>",
            Self::Location => "<LOCATION>",
            Self::Person => "<PERSON>",
        }
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// All kinds.
    pub const ALL: Self = Self(0b11_1111);
    /// No kind.
    pub const NONE: Self = Self(0);

    /// Returns this set with one more kind.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Returns whether the set contains a kind.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::NONE, Self::with)
    }
}
