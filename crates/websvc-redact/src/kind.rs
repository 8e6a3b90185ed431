//! The kinds of personal data.

/// A kind of personal data (specification, section 2.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Passwords, keys, tokens.
    Secret,
    /// Mail addresses.
    Email,
    /// Numbers of cards and accounts, and of taxes and social security.
    Financial,
    /// Telephone numbers.
    Phone,
    /// Addresses and places.
    Location,
    /// Names of people.
    Person,
}

impl Kind {
    /// All kinds; the first ones win where findings overlap, because their rules are the most certain.
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

    /// Returns what takes the place of a finding, such as `<EMAIL>`.
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

    /// Returns this set with one kind more.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Tells whether the set has a kind.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::NONE, Self::with)
    }
}
