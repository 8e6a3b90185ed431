//! Names of time zones.

use websvc_schedule::Zone;

#[test]
fn zone_has_the_spelling_of_the_database() {
    for (name, expected) in [
        ("UTC", "UTC"),
        ("europe/berlin", "Europe/Berlin"),
        ("AMERICA/NEW_YORK", "America/New_York"),
        ("Etc/GMT+5", "Etc/GMT+5"),
        ("US/Eastern", "US/Eastern"),
    ] {
        assert_eq!(Zone::from_name(name).unwrap().name(), expected);
    }
}

#[test]
fn other_names_are_rejected() {
    for name in [
        "",
        " UTC",
        "Europe/Atlantis",
        "Etc/Unknown",
        "+02:00",
        "CET-1CEST",
        "EST5EDT,M3.2.0,M11.1.0",
        "../UTC",
        "Z",
    ] {
        let message = Zone::from_name(name).unwrap_err().to_string();
        assert!(message.ends_with(&format!("such as UTC or Europe/Berlin, not \"{name}\"")), "{message}");
    }
}
