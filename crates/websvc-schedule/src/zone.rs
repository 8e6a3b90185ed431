//! Time zones of the IANA database.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

/// Time zone of the IANA database, in the copy that is part of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// The name is not in the IANA database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "timezone must be a name of the IANA time zone database, such as UTC or Europe/Berlin, not \"{name}\""
)]
pub struct ZoneError {
    /// The name.
    pub name: String,
}

impl Zone {
    /// Returns the zone with this name, in any case of letters.
    ///
    /// ```
    /// use websvc_schedule::Zone;
    ///
    /// assert_eq!(Zone::from_name("europe/berlin")?.name(), "Europe/Berlin");
    /// assert!(Zone::from_name("Europe/Atlantis").is_err());
    /// # Ok::<(), websvc_schedule::ZoneError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The database has no zone of this name. Offsets such as `+02:00` are not zones.
    pub fn from_name(name: &str) -> Result<Self, ZoneError> {
        let error = || ZoneError { name: name.to_owned() };
        let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| error())?;
        let name = zone.iana_name().filter(|_| !zone.is_unknown()).ok_or_else(error)?.to_owned();
        Ok(Self { name, zone })
    }

    /// Returns the name as the database spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the local time of an instant.
    #[must_use]
    pub fn to_local(&self, instant: Timestamp) -> DateTime {
        self.zone.to_datetime(instant)
    }

    /// Returns an instant as text: RFC 3339 in seconds, with the offset of the zone.
    ///
    /// ```
    /// use websvc_schedule::Zone;
    ///
    /// let instant = "2026-03-28T08:00:00Z".parse()?;
    /// assert_eq!(Zone::from_name("Europe/Berlin")?.format(instant), "2026-03-28T09:00:00+01:00");
    /// assert_eq!(Zone::from_name("UTC")?.format(instant), "2026-03-28T08:00:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn format(&self, instant: Timestamp) -> String {
        let local = instant.to_zoned(self.zone.clone());
        let format = if local.offset().is_zero() { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%:z" };
        local.strftime(format).to_string()
    }

    /// Returns the first instant of a local time, unless a clock change skips it.
    pub(crate) fn first_instant(&self, local: DateTime) -> Option<Timestamp> {
        let offset = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before: _, after: _ } => return None,
            AmbiguousOffset::Fold { before, after: _ } => before,
        };
        offset.to_timestamp(local).ok()
    }
}
