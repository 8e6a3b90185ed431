//! Names of cities and regions in English and in their own languages, so that `Munich` finds pages of `München`.

/// The names of each place.
const NAMES: [&[&str]; 64] = [
    &["Antwerp", "Antwerpen", "Anvers"],
    &["Athens", "Αθήνα"],
    &["Basel", "Basle", "Bâle"],
    &["Bavaria", "Bayern"],
    &["Beijing", "北京", "Peking"],
    &["Belgrade", "Beograd", "Београд"],
    &["Brittany", "Bretagne"],
    &["Bruges", "Brugge"],
    &["Brunswick", "Braunschweig"],
    &["Brussels", "Bruxelles", "Brussel"],
    &["Bucharest", "București"],
    &["Cairo", "القاهرة"],
    &["Catalonia", "Catalunya", "Cataluña"],
    &["Cologne", "Köln"],
    &["Copenhagen", "København"],
    &["Cracow", "Kraków", "Krakow"],
    &["Dubai", "دبي"],
    &["Florence", "Firenze"],
    &["Geneva", "Genève", "Genf"],
    &["Genoa", "Genova"],
    &["Ghent", "Gent", "Gand"],
    &["Gothenburg", "Göteborg"],
    &["Hanover", "Hannover"],
    &["Helsinki", "Helsingfors"],
    &["Hesse", "Hessen"],
    &["Istanbul", "İstanbul"],
    &["Kyiv", "Kiev", "Київ"],
    &["Kyoto", "京都"],
    &["Lisbon", "Lisboa"],
    &["Lombardy", "Lombardia"],
    &["Lower Saxony", "Niedersachsen"],
    &["Lucerne", "Luzern"],
    &["Mexico City", "Ciudad de México"],
    &["Milan", "Milano"],
    &["Moscow", "Москва"],
    &["Mumbai", "मुंबई", "Bombay"],
    &["Munich", "München", "Muenchen"],
    &["Naples", "Napoli"],
    &["Normandy", "Normandie"],
    &["North Rhine-Westphalia", "Nordrhein-Westfalen"],
    &["Nuremberg", "Nürnberg", "Nuernberg"],
    &["Osaka", "大阪"],
    &["Padua", "Padova"],
    &["Piedmont", "Piemonte"],
    &["Prague", "Praha"],
    &["Rome", "Roma"],
    &["Saint Petersburg", "Санкт-Петербург", "St. Petersburg"],
    &["Saxony", "Sachsen"],
    &["Seoul", "서울"],
    &["Seville", "Sevilla"],
    &["Shanghai", "上海"],
    &["Sicily", "Sicilia"],
    &["Sofia", "София"],
    &["The Hague", "Den Haag"],
    &["Thuringia", "Thüringen"],
    &["Tokyo", "東京"],
    &["Turin", "Torino"],
    &["Tuscany", "Toscana"],
    &["Tyrol", "Tirol"],
    &["Venice", "Venezia"],
    &["Vienna", "Wien"],
    &["Warsaw", "Warszawa"],
    &["Zaragoza", "Saragossa"],
    &["Zurich", "Zürich", "Zuerich"],
];

/// Returns the names of a place, the given one first.
pub(super) fn names_of(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let is_given = |other: &&str| other.to_lowercase() == lower;
    let known = NAMES.iter().find(|names| names.iter().any(is_given));
    let others = known.into_iter().copied().flatten().filter(|other| !is_given(other));
    std::iter::once(name).chain(others.copied()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::names_of;

    #[test]
    fn places_have_the_names_of_their_language() {
        assert_eq!(names_of("munich"), ["munich", "München", "Muenchen"]);
        assert_eq!(names_of("Wien"), ["Wien", "Vienna"]);
        assert_eq!(names_of("Springfield"), ["Springfield"]);
    }
}
