//! Country profiles: time zone, language and coordinates of a browser in the capital of each country.

/// The locale of a browser in the capital of a country.
#[derive(Debug, PartialEq)]
pub(crate) struct CountryProfile {
    /// The code of the country (ISO 3166-1 alpha-2).
    country: &'static str,
    /// The time zone of the capital (IANA name).
    pub(crate) timezone: &'static str,
    /// The official language with the most speakers (CLDR).
    language: &'static str,
    /// The latitude of the capital, in degrees north.
    pub(crate) latitude: f32,
    /// The longitude of the capital, in degrees east.
    pub(crate) longitude: f32,
}

impl CountryProfile {
    /// Returns the profile of a country; `None` for the two uninhabited ones.
    pub(crate) fn from_country(country: &str) -> Option<&'static Self> {
        let position = PROFILES.binary_search_by(|profile| profile.country.cmp(country));
        position.ok().map(|position| &PROFILES[position])
    }

    /// Returns the languages that a browser there requests: its locale and its language. `None` for Antarctica, which
    /// has no language.
    pub(crate) fn languages(&self) -> Option<[String; 2]> {
        (self.language != "und").then(|| [self.locale(), self.language.to_owned()])
    }

    /// Returns the language and country as one name, such as `de-AT`.
    pub(crate) fn locale(&self) -> String {
        format!("{}-{}", self.language, self.country)
    }
}

const fn profile(
    country: &'static str,
    timezone: &'static str,
    language: &'static str,
    latitude: f32,
    longitude: f32,
) -> CountryProfile {
    CountryProfile { country, timezone, language, latitude, longitude }
}

/// The profiles of all countries, sorted by code.
static PROFILES: &[CountryProfile] = &[
    profile("AD", "Europe/Andorra", "ca", 42.51, 1.52),
    profile("AE", "Asia/Dubai", "ar", 24.45, 54.40),
    profile("AF", "Asia/Kabul", "fa", 34.53, 69.17),
    profile("AG", "America/Antigua", "en", 17.12, -61.84),
    profile("AI", "America/Anguilla", "en", 18.22, -63.06),
    profile("AL", "Europe/Tirane", "sq", 41.33, 19.82),
    profile("AM", "Asia/Yerevan", "hy", 40.18, 44.51),
    profile("AO", "Africa/Luanda", "pt", -8.84, 13.23),
    profile("AQ", "Antarctica/McMurdo", "und", -77.83, 166.60),
    profile("AR", "America/Argentina/Buenos_Aires", "es", -34.61, -58.38),
    profile("AS", "Pacific/Pago_Pago", "sm", -14.28, -170.70),
    profile("AT", "Europe/Vienna", "de", 48.21, 16.37),
    profile("AU", "Australia/Sydney", "en", -35.28, 149.13),
    profile("AW", "America/Aruba", "nl", 12.52, -70.03),
    profile("AX", "Europe/Mariehamn", "sv", 60.10, 19.93),
    profile("AZ", "Asia/Baku", "az", 40.38, 49.89),
    profile("BA", "Europe/Sarajevo", "bs", 43.85, 18.36),
    profile("BB", "America/Barbados", "en", 13.11, -59.62),
    profile("BD", "Asia/Dhaka", "bn", 23.71, 90.41),
    profile("BE", "Europe/Brussels", "nl", 50.85, 4.35),
    profile("BF", "Africa/Ouagadougou", "fr", 12.37, -1.53),
    profile("BG", "Europe/Sofia", "bg", 42.70, 23.32),
    profile("BH", "Asia/Bahrain", "ar", 26.23, 50.59),
    profile("BI", "Africa/Bujumbura", "rn", -3.43, 29.92),
    profile("BJ", "Africa/Porto-Novo", "fr", 6.50, 2.60),
    profile("BL", "America/St_Barthelemy", "fr", 17.90, -62.85),
    profile("BM", "Atlantic/Bermuda", "en", 32.29, -64.78),
    profile("BN", "Asia/Brunei", "ms", 4.89, 114.94),
    profile("BO", "America/La_Paz", "es", -19.03, -65.26),
    profile("BQ", "America/Kralendijk", "nl", 12.15, -68.27),
    profile("BR", "America/Sao_Paulo", "pt", -15.78, -47.93),
    profile("BS", "America/Nassau", "en", 25.06, -77.34),
    profile("BT", "Asia/Thimphu", "dz", 27.47, 89.64),
    profile("BW", "Africa/Gaborone", "en", -24.65, 25.91),
    profile("BY", "Europe/Minsk", "ru", 53.90, 27.57),
    profile("BZ", "America/Belize", "en", 17.25, -88.76),
    profile("CA", "America/Toronto", "en", 45.41, -75.70),
    profile("CC", "Indian/Cocos", "en", -12.16, 96.82),
    profile("CD", "Africa/Kinshasa", "fr", -4.33, 15.31),
    profile("CF", "Africa/Bangui", "sg", 4.36, 18.55),
    profile("CG", "Africa/Brazzaville", "fr", -4.27, 15.28),
    profile("CH", "Europe/Zurich", "de", 46.95, 7.45),
    profile("CI", "Africa/Abidjan", "fr", 6.82, -5.28),
    profile("CK", "Pacific/Rarotonga", "en", -21.21, -159.78),
    profile("CL", "America/Santiago", "es", -33.46, -70.65),
    profile("CM", "Africa/Douala", "fr", 3.87, 11.52),
    profile("CN", "Asia/Shanghai", "zh", 39.91, 116.40),
    profile("CO", "America/Bogota", "es", 4.61, -74.08),
    profile("CR", "America/Costa_Rica", "es", 9.93, -84.08),
    profile("CU", "America/Havana", "es", 23.13, -82.38),
    profile("CV", "Atlantic/Cape_Verde", "pt", 14.93, -23.51),
    profile("CW", "America/Curacao", "pap", 12.12, -68.89),
    profile("CX", "Indian/Christmas", "en", -10.42, 105.68),
    profile("CY", "Asia/Nicosia", "el", 35.17, 33.35),
    profile("CZ", "Europe/Prague", "cs", 50.09, 14.42),
    profile("DE", "Europe/Berlin", "de", 52.52, 13.41),
    profile("DJ", "Africa/Djibouti", "fr", 11.59, 43.15),
    profile("DK", "Europe/Copenhagen", "da", 55.68, 12.57),
    profile("DM", "America/Dominica", "en", 15.30, -61.39),
    profile("DO", "America/Santo_Domingo", "es", 18.47, -69.89),
    profile("DZ", "Africa/Algiers", "ar", 36.73, 3.09),
    profile("EC", "America/Guayaquil", "es", -0.23, -78.52),
    profile("EE", "Europe/Tallinn", "et", 59.44, 24.75),
    profile("EG", "Africa/Cairo", "ar", 30.06, 31.25),
    profile("EH", "Africa/El_Aaiun", "ar", 27.14, -13.19),
    profile("ER", "Africa/Asmara", "ti", 15.34, 38.93),
    profile("ES", "Europe/Madrid", "es", 40.42, -3.70),
    profile("ET", "Africa/Addis_Ababa", "am", 9.02, 38.75),
    profile("FI", "Europe/Helsinki", "fi", 60.17, 24.94),
    profile("FJ", "Pacific/Fiji", "en", -18.14, 178.43),
    profile("FK", "Atlantic/Stanley", "en", -51.69, -57.86),
    profile("FM", "Pacific/Pohnpei", "en", 6.92, 158.16),
    profile("FO", "Atlantic/Faroe", "fo", 62.01, -6.77),
    profile("FR", "Europe/Paris", "fr", 48.85, 2.35),
    profile("GA", "Africa/Libreville", "fr", 0.39, 9.45),
    profile("GB", "Europe/London", "en", 51.51, -0.13),
    profile("GD", "America/Grenada", "en", 12.05, -61.75),
    profile("GE", "Asia/Tbilisi", "ka", 41.69, 44.83),
    profile("GF", "America/Cayenne", "fr", 4.94, -52.33),
    profile("GG", "Europe/Guernsey", "en", 49.46, -2.54),
    profile("GH", "Africa/Accra", "en", 5.56, -0.20),
    profile("GI", "Europe/Gibraltar", "en", 36.14, -5.35),
    profile("GL", "America/Nuuk", "kl", 64.18, -51.72),
    profile("GM", "Africa/Banjul", "en", 13.45, -16.58),
    profile("GN", "Africa/Conakry", "fr", 9.54, -13.68),
    profile("GP", "America/Guadeloupe", "fr", 16.00, -61.73),
    profile("GQ", "Africa/Malabo", "es", 1.59, 10.82),
    profile("GR", "Europe/Athens", "el", 37.98, 23.73),
    profile("GS", "Atlantic/South_Georgia", "en", -54.28, -36.51),
    profile("GT", "America/Guatemala", "es", 14.64, -90.51),
    profile("GU", "Pacific/Guam", "en", 13.48, 144.75),
    profile("GW", "Africa/Bissau", "pt", 11.86, -15.60),
    profile("GY", "America/Guyana", "en", 6.80, -58.16),
    profile("HK", "Asia/Hong_Kong", "zh", 22.28, 114.17),
    profile("HN", "America/Tegucigalpa", "es", 14.08, -87.21),
    profile("HR", "Europe/Zagreb", "hr", 45.81, 15.98),
    profile("HT", "America/Port-au-Prince", "ht", 18.54, -72.34),
    profile("HU", "Europe/Budapest", "hu", 47.50, 19.04),
    profile("ID", "Asia/Jakarta", "id", -6.21, 106.85),
    profile("IE", "Europe/Dublin", "en", 53.33, -6.25),
    profile("IL", "Asia/Jerusalem", "he", 31.77, 35.22),
    profile("IM", "Europe/Isle_of_Man", "en", 54.15, -4.48),
    profile("IN", "Asia/Kolkata", "hi", 28.65, 77.23),
    profile("IO", "Indian/Chagos", "en", -7.26, 72.38),
    profile("IQ", "Asia/Baghdad", "ar", 33.34, 44.40),
    profile("IR", "Asia/Tehran", "fa", 35.69, 51.42),
    profile("IS", "Atlantic/Reykjavik", "is", 64.14, -21.90),
    profile("IT", "Europe/Rome", "it", 41.89, 12.51),
    profile("JE", "Europe/Jersey", "en", 49.19, -2.10),
    profile("JM", "America/Jamaica", "en", 18.00, -76.79),
    profile("JO", "Asia/Amman", "ar", 31.96, 35.95),
    profile("JP", "Asia/Tokyo", "ja", 35.69, 139.69),
    profile("KE", "Africa/Nairobi", "sw", -1.28, 36.82),
    profile("KG", "Asia/Bishkek", "ky", 42.87, 74.59),
    profile("KH", "Asia/Phnom_Penh", "km", 11.56, 104.92),
    profile("KI", "Pacific/Tarawa", "en", 1.33, 172.98),
    profile("KM", "Indian/Comoro", "ar", -11.70, 43.26),
    profile("KN", "America/St_Kitts", "en", 17.30, -62.72),
    profile("KP", "Asia/Pyongyang", "ko", 39.03, 125.75),
    profile("KR", "Asia/Seoul", "ko", 37.57, 126.98),
    profile("KW", "Asia/Kuwait", "ar", 29.37, 47.97),
    profile("KY", "America/Cayman", "en", 19.29, -81.37),
    profile("KZ", "Asia/Almaty", "ru", 51.18, 71.45),
    profile("LA", "Asia/Vientiane", "lo", 17.97, 102.60),
    profile("LB", "Asia/Beirut", "ar", 33.89, 35.50),
    profile("LC", "America/St_Lucia", "en", 14.00, -61.01),
    profile("LI", "Europe/Vaduz", "de", 47.14, 9.52),
    profile("LK", "Asia/Colombo", "si", 6.94, 79.85),
    profile("LR", "Africa/Monrovia", "en", 6.30, -10.80),
    profile("LS", "Africa/Maseru", "st", -29.32, 27.48),
    profile("LT", "Europe/Vilnius", "lt", 54.69, 25.28),
    profile("LU", "Europe/Luxembourg", "fr", 49.61, 6.13),
    profile("LV", "Europe/Riga", "lv", 56.95, 24.11),
    profile("LY", "Africa/Tripoli", "ar", 32.89, 13.19),
    profile("MA", "Africa/Casablanca", "ar", 34.01, -6.83),
    profile("MC", "Europe/Monaco", "fr", 43.74, 7.42),
    profile("MD", "Europe/Chisinau", "ro", 47.01, 28.86),
    profile("ME", "Europe/Podgorica", "sr", 42.44, 19.26),
    profile("MF", "America/Marigot", "fr", 18.07, -63.08),
    profile("MG", "Indian/Antananarivo", "mg", -18.91, 47.54),
    profile("MH", "Pacific/Majuro", "en", 7.09, 171.38),
    profile("MK", "Europe/Skopje", "mk", 42.00, 21.43),
    profile("ML", "Africa/Bamako", "fr", 12.61, -7.98),
    profile("MM", "Asia/Yangon", "my", 19.75, 96.13),
    profile("MN", "Asia/Ulaanbaatar", "mn", 47.91, 106.88),
    profile("MO", "Asia/Macau", "zh", 22.20, 113.55),
    profile("MP", "Pacific/Saipan", "en", 15.21, 145.75),
    profile("MQ", "America/Martinique", "fr", 14.60, -61.07),
    profile("MR", "Africa/Nouakchott", "ar", 18.09, -15.98),
    profile("MS", "America/Montserrat", "en", 16.71, -62.21),
    profile("MT", "Europe/Malta", "mt", 35.90, 14.51),
    profile("MU", "Indian/Mauritius", "fr", -20.16, 57.50),
    profile("MV", "Indian/Maldives", "dv", 4.18, 73.51),
    profile("MW", "Africa/Blantyre", "en", -13.97, 33.79),
    profile("MX", "America/Mexico_City", "es", 19.43, -99.13),
    profile("MY", "Asia/Kuala_Lumpur", "ms", 3.15, 101.69),
    profile("MZ", "Africa/Maputo", "pt", -25.97, 32.58),
    profile("NA", "Africa/Windhoek", "en", -22.56, 17.08),
    profile("NC", "Pacific/Noumea", "fr", -22.27, 166.45),
    profile("NE", "Africa/Niamey", "fr", 13.51, 2.11),
    profile("NF", "Pacific/Norfolk", "en", -29.05, 167.97),
    profile("NG", "Africa/Lagos", "en", 9.06, 7.50),
    profile("NI", "America/Managua", "es", 12.13, -86.25),
    profile("NL", "Europe/Amsterdam", "nl", 52.37, 4.89),
    profile("NO", "Europe/Oslo", "nb", 59.91, 10.75),
    profile("NP", "Asia/Kathmandu", "ne", 27.70, 85.32),
    profile("NR", "Pacific/Nauru", "en", -0.55, 166.93),
    profile("NU", "Pacific/Niue", "en", -19.05, -169.92),
    profile("NZ", "Pacific/Auckland", "en", -41.29, 174.78),
    profile("OM", "Asia/Muscat", "ar", 23.58, 58.41),
    profile("PA", "America/Panama", "es", 8.99, -79.52),
    profile("PE", "America/Lima", "es", -12.04, -77.03),
    profile("PF", "Pacific/Tahiti", "fr", -17.53, -149.57),
    profile("PG", "Pacific/Port_Moresby", "tpi", -9.48, 147.15),
    profile("PH", "Asia/Manila", "en", 14.60, 120.98),
    profile("PK", "Asia/Karachi", "ur", 33.72, 73.04),
    profile("PL", "Europe/Warsaw", "pl", 52.23, 21.01),
    profile("PM", "America/Miquelon", "fr", 46.78, -56.18),
    profile("PN", "Pacific/Pitcairn", "en", -25.07, -130.10),
    profile("PR", "America/Puerto_Rico", "es", 18.47, -66.11),
    profile("PS", "Asia/Hebron", "ar", 31.78, 35.23),
    profile("PT", "Europe/Lisbon", "pt", 38.73, -9.15),
    profile("PW", "Pacific/Palau", "pau", 7.33, 134.48),
    profile("PY", "America/Asuncion", "gn", -25.29, -57.65),
    profile("QA", "Asia/Qatar", "ar", 25.29, 51.53),
    profile("RE", "Indian/Reunion", "fr", -20.88, 55.45),
    profile("RO", "Europe/Bucharest", "ro", 44.43, 26.11),
    profile("RS", "Europe/Belgrade", "sr", 44.80, 20.47),
    profile("RU", "Europe/Moscow", "ru", 55.75, 37.62),
    profile("RW", "Africa/Kigali", "rw", -1.95, 30.06),
    profile("SA", "Asia/Riyadh", "ar", 24.69, 46.72),
    profile("SB", "Pacific/Guadalcanal", "en", -9.43, 159.95),
    profile("SC", "Indian/Mahe", "fr", -4.62, 55.46),
    profile("SD", "Africa/Khartoum", "ar", 15.55, 32.53),
    profile("SE", "Europe/Stockholm", "sv", 59.33, 18.07),
    profile("SG", "Asia/Singapore", "en", 1.29, 103.85),
    profile("SH", "Atlantic/St_Helena", "en", -15.92, -5.72),
    profile("SI", "Europe/Ljubljana", "sl", 46.05, 14.51),
    profile("SJ", "Arctic/Longyearbyen", "nb", 78.22, 15.65),
    profile("SK", "Europe/Bratislava", "sk", 48.15, 17.11),
    profile("SL", "Africa/Freetown", "en", 8.49, -13.24),
    profile("SM", "Europe/San_Marino", "it", 43.94, 12.45),
    profile("SN", "Africa/Dakar", "wo", 14.69, -17.44),
    profile("SO", "Africa/Mogadishu", "so", 2.04, 45.34),
    profile("SR", "America/Paramaribo", "nl", 5.87, -55.17),
    profile("SS", "Africa/Juba", "en", 4.85, 31.58),
    profile("ST", "Africa/Sao_Tome", "pt", 0.34, 6.73),
    profile("SV", "America/El_Salvador", "es", 13.69, -89.19),
    profile("SX", "America/Lower_Princes", "en", 18.03, -63.05),
    profile("SY", "Asia/Damascus", "ar", 33.51, 36.29),
    profile("SZ", "Africa/Mbabane", "en", -26.32, 31.13),
    profile("TC", "America/Grand_Turk", "en", 21.46, -71.14),
    profile("TD", "Africa/Ndjamena", "ar", 12.11, 15.04),
    profile("TF", "Indian/Kerguelen", "fr", -49.35, 70.22),
    profile("TG", "Africa/Lome", "fr", 6.13, 1.22),
    profile("TH", "Asia/Bangkok", "th", 13.75, 100.50),
    profile("TJ", "Asia/Dushanbe", "tg", 38.54, 68.78),
    profile("TK", "Pacific/Fakaofo", "tkl", -9.37, -171.23),
    profile("TL", "Asia/Dili", "pt", -8.56, 125.57),
    profile("TM", "Asia/Ashgabat", "tk", 37.95, 58.38),
    profile("TN", "Africa/Tunis", "ar", 36.82, 10.17),
    profile("TO", "Pacific/Tongatapu", "to", -21.14, -175.20),
    profile("TR", "Europe/Istanbul", "tr", 39.92, 32.85),
    profile("TT", "America/Port_of_Spain", "en", 10.67, -61.52),
    profile("TV", "Pacific/Funafuti", "tvl", -8.52, 179.19),
    profile("TW", "Asia/Taipei", "zh", 25.05, 121.53),
    profile("TZ", "Africa/Dar_es_Salaam", "sw", -6.17, 35.74),
    profile("UA", "Europe/Kyiv", "uk", 50.45, 30.52),
    profile("UG", "Africa/Kampala", "sw", 0.32, 32.58),
    profile("UM", "Pacific/Midway", "en", 28.22, -177.37),
    profile("US", "America/New_York", "en", 38.90, -77.04),
    profile("UY", "America/Montevideo", "es", -34.90, -56.19),
    profile("UZ", "Asia/Tashkent", "uz", 41.26, 69.22),
    profile("VA", "Europe/Vatican", "it", 41.90, 12.45),
    profile("VC", "America/St_Vincent", "en", 13.16, -61.23),
    profile("VE", "America/Caracas", "es", 10.49, -66.88),
    profile("VG", "America/Tortola", "en", 18.43, -64.62),
    profile("VI", "America/St_Thomas", "en", 18.34, -64.93),
    profile("VN", "Asia/Bangkok", "vi", 21.02, 105.84),
    profile("VU", "Pacific/Efate", "bi", -17.74, 168.31),
    profile("WF", "Pacific/Wallis", "fr", -13.28, -176.17),
    profile("WS", "Pacific/Apia", "sm", -13.83, -171.77),
    profile("YE", "Asia/Aden", "ar", 15.35, 44.21),
    profile("YT", "Indian/Mayotte", "fr", -12.78, 45.23),
    profile("ZA", "Africa/Johannesburg", "en", -25.74, 28.19),
    profile("ZM", "Africa/Lusaka", "en", -15.41, 28.29),
    profile("ZW", "Africa/Harare", "sn", -17.83, 31.05),
];

#[cfg(test)]
mod tests {
    use websvc_types::country::CODES;

    use super::*;

    #[test]
    fn every_inhabited_country_has_a_profile() {
        let missing: Vec<_> =
            CODES.iter().filter(|code| CountryProfile::from_country(code).is_none()).collect();
        assert_eq!(missing, [&"BV", &"HM"]);
        assert_eq!(PROFILES.len() + missing.len(), CODES.len());
        assert!(PROFILES.is_sorted_by_key(|profile| profile.country));
    }

    #[test]
    fn profile_has_coordinates_of_the_capital() {
        let berlin = CountryProfile::from_country("DE").unwrap();
        assert_eq!((berlin.timezone, berlin.locale().as_str()), ("Europe/Berlin", "de-DE"));
        assert!((berlin.latitude - 52.5).abs() < 0.5 && (berlin.longitude - 13.4).abs() < 0.5);
        for profile in PROFILES {
            assert!(profile.latitude.abs() <= 90.0 && profile.longitude.abs() <= 180.0, "{profile:?}");
        }
    }
}
