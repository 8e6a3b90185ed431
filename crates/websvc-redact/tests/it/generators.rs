//! Deterministic generators of personal data of many countries, and of harmless texts that resemble it.

use websvc_redact::Kind;

/// A pseudorandom number generator (Marsaglia's xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound
    }

    /// Returns one of `choices`.
    pub(crate) fn choose<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// Fills a pattern: `#` is a digit, `%` a digit from 2 to 9, `^` an upper-case letter, `~` a lower-case letter, `&`
    /// a letter or a digit, `@` a hexadecimal digit.
    pub(crate) fn fill(&mut self, pattern: &str) -> String {
        const ANY: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut pick = |from: &[u8]| char::from(from[self.below(from.len())]);
        let fill = |c| match c {
            '#' => pick(b"0123456789"),
            '%' => pick(b"23456789"),
            '^' => pick(&ANY[..26]),
            '~' => pick(&ANY[26..52]),
            '&' => pick(ANY),
            '@' => pick(b"0123456789abcdef"),
            c => c,
        };
        pattern.chars().map(fill).collect()
    }
}

/// Given names; about a third of them is not in the gazetteer.
const GIVEN: &[&str] = &[
    "Emma",
    "Liam",
    "Olivia",
    "Noah",
    "Marlon",
    "Wiebke",
    "Torben",
    "Uta",
    "Étienne",
    "Solène",
    "Baptiste",
    "Nuria",
    "Ainhoa",
    "Pablo",
    "Giulia",
    "Ludovica",
    "Matteo",
    "Sanne",
    "Jelle",
    "Femke",
    "Agnieszka",
    "Wojciech",
    "Bożena",
    "Ondřej",
    "Ayşe",
    "Burak",
    "Kenji",
    "Haruto",
    "Priya",
    "Arjun",
    "Kavitha",
    "Omar",
    "Layla",
    "Chinedu",
    "Ngozi",
    "Thabo",
    "Oleksandr",
    "Svetlana",
    "Björn",
    "Astrid",
    "Siobhán",
    "Ciaran",
    "Megan",
    "Joseph",
    "Karen",
    "Timothy",
    "Darlene",
    "Brandon",
    "Luiz",
    "Beatriz",
];
/// Family names; about a third of them is not in the gazetteer.
const FAMILY: &[&str] = &[
    "Smith",
    "Johnson",
    "Whitfield",
    "Okonjo",
    "Abernathy",
    "Müller",
    "Schröder",
    "Dombrowski",
    "Kleinschmidt",
    "Lefèvre",
    "Beaumont",
    "Charpentier",
    "García",
    "Etxeberria",
    "Fernández",
    "Rossi",
    "Bellini",
    "De Luca",
    "van Dijk",
    "de Vries",
    "Kowalska",
    "Wiśniewski",
    "Novák",
    "Yılmaz",
    "Tanaka",
    "Matsuda",
    "Sharma",
    "Subramanian",
    "Al-Farsi",
    "Haddad",
    "Okafor",
    "Nkosi",
    "Shevchenko",
    "Petrova",
    "Lindqvist",
    "Haugen",
    "O'Connor",
    "McAllister",
    "Thornton",
    "Peterson",
    "Oliveira",
    "Carvalho",
];
const CITIES: &[&str] = &[
    "Berlin",
    "Paris",
    "Madrid",
    "Chicago",
    "Toronto",
    "Kraków",
    "Lisbon",
    "Osaka",
    "Nairobi",
    "Melbourne",
    "Glasgow",
    "Toulouse",
    "Porto Alegre",
    "New Delhi",
    "Buenos Aires",
    "Cape Town",
    "Utrecht",
    "Leipzig",
    "Bologna",
    "Denver",
];
const TOWNS: &[&str] =
    &["Ashford", "Millbrook", "Neustadt", "Saint-Aubin", "Villanova", "Oakdale", "Fairview", "Bergheim"];

/// Returns personal data of a kind.
pub(crate) fn generate(kind: Kind, random: &mut Random) -> String {
    match kind {
        Kind::Person => person(random),
        Kind::Email => email(random),
        Kind::Phone => phone(random),
        Kind::Location => location(random),
        Kind::Financial => financial(random),
        Kind::Secret => secret(random),
    }
}

fn person(random: &mut Random) -> String {
    let (given, family) = (random.choose(GIVEN), random.choose(FAMILY));
    match random.below(6) {
        0 => format!("{given} {}. {family}", random.fill("^")),
        1 => format!("{given} {} {family}", random.choose(GIVEN)),
        _ => format!("{given} {family}"),
    }
}

fn email(random: &mut Random) -> String {
    let local = ["~~~~.~~~~~", "~.~~~~~~", "~~~~~~##", "~~~~+~~~", "~~~_~~~~", "~~-~~~"];
    let domain = [
        "example.com",
        "mail.example.co.uk",
        "example.de",
        "xn--exmple-cua.example",
        "a.example.museum",
        "firma-gmbh.de",
    ];
    let (local, domain) = (random.choose(&local), random.choose(&domain));
    format!("{}@{domain}", random.fill(local))
}

fn phone(random: &mut Random) -> String {
    let pattern = random.choose(&[
        "(%1%) %##-####",
        "%1%-%##-####",
        "%1%.%##.####",
        "+1 %1% %## ####",
        "+1-%1%-%##-####",
        "1-8%%-%##-####",
        "+44 20 #### ####",
        "+44 7### ######",
        "020 7### ####",
        "07### ######",
        "+49 30 ######",
        "+49 (0)89 ########",
        "+49 17# #######",
        "030/#######",
        "+33 6 ## ## ## ##",
        "01 ## ## ## ##",
        "+34 6## ### ###",
        "+39 06 #### ####",
        "+39 3## ### ####",
        "+31 6 ########",
        "+31 20 ### ####",
        "+48 ### ### ###",
        "+81 3-####-####",
        "090-####-####",
        "+86 138 #### ####",
        "+91 98### #####",
        "+55 11 9####-####",
        "(11) 9####-####",
        "+61 4## ### ###",
        "(02) #### ####",
        "+27 82 ### ####",
        "+234 803 ### ####",
        "+972 5#-###-####",
        "+7 495 ###-##-##",
        "+46 70 ### ## ##",
        "+47 9## ## ###",
        "+358 40 #######",
        "+353 1 ### ####",
        "0049 30 #######",
    ]);
    random.fill(pattern)
}

fn location(random: &mut Random) -> String {
    let (city, town) = (random.choose(CITIES), random.choose(TOWNS));
    let place = [city, town][random.below(2)];
    let pattern = match random.below(16) {
        0 => format!("%## Maple Street, {place}, CA 9####"),
        1 => format!("%### North Oak Avenue, Apt 4B, {place}, TX 7####"),
        2 => format!("%# Church Lane, {place} LS1 4AP"),
        3 => format!("Lindenstraße %#, 1#### {place}"),
        4 => format!("Am Kirchweg %, 5#### {place}"),
        5 => format!("%# avenue de la République, 3#### {place}"),
        6 => format!("% bis, rue Victor Hugo, 7#### {place}"),
        7 => format!("Calle de Alcalá %#, 28### {place}"),
        8 => format!("Via Garibaldi %#, 40### {place}"),
        9 => format!("Prinsengracht %##, 1### AB {place}"),
        10 => format!("ul. Długa %#, 31-### {place}"),
        11 => format!("Rua das Flores, %##, {place}"),
        12 => "P.O. Box %###".to_owned(),
        13 => format!("{city}, Germany"),
        14 => "4#.####, -1##.####".to_owned().replace("-1#", "-10"),
        _ => city.to_owned(),
    };
    random.fill(&pattern)
}

fn financial(random: &mut Random) -> String {
    match random.below(5) {
        0 => card(random, "4", 16, " "),
        1 => card(random, "53", 16, ""),
        2 => card(random, "6011", 16, "-"),
        3 => iban(random),
        _ => random.fill("211-%#-1###"),
    }
}

fn card(random: &mut Random, prefix: &str, length: usize, gap: &str) -> String {
    let body = random.fill(&format!("{prefix}{}", "#".repeat(length - 1 - prefix.len())));
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(digit - b'0') * if at % 2 == 0 { 2 } else { 1 };
            value / 10 + value % 10
        })
        .sum();
    let number = format!("{body}{}", (10 - sum % 10) % 10);
    let groups: Vec<&str> = (0..4).map(|at| &number[at * 4..at * 4 + 4]).collect();
    groups.join(gap)
}

fn iban(random: &mut Random) -> String {
    let pattern = random.choose(&[
        "DE##################",
        "GBABCD##############",
        "NLABNA##########",
        "FR#######################",
        "ES####################",
    ]);
    let (country, body) = pattern.split_at(2);
    let body = random.fill(body);
    let rest = format!("{body}{country}00").bytes().fold(0_u32, |rest, b| match b {
        b'0'..=b'9' => (rest * 10 + u32::from(b - b'0')) % 97,
        _ => (rest * 100 + u32::from(b - b'A') + 10) % 97,
    });
    let iban = format!("{country}{:02}{body}", 98 - rest);
    if random.below(2) == 0 {
        return iban;
    }
    let groups: Vec<String> =
        iban.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned()).collect();
    groups.join(" ")
}

fn secret(random: &mut Random) -> String {
    let body = random.fill(&"&".repeat(36));
    match random.below(9) {
        0 => random.fill("AKIA^#^^#^^^#^^#^^^^"),
        1 => format!("ghp_{}7a", &body[..34]),
        2 => format!("sk_live_{}4b", &body[..22]),
        3 => format!("xoxb-{}-9{}", random.fill("############"), &body[..23]),
        4 => format!("AIza5b{}", &body[..33]),
        5 => format!("glpat-{}1c", &body[..18]),
        6 => format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{}.{}1x", &body[..20], &body[..30]),
        7 => format!("hf_{}2d", &body[..32]),
        _ => format!("npm_{}3e", &body[..34]),
    }
}

/// Returns a line without personal data that resembles a line with personal data.
pub(crate) fn harmless(random: &mut Random) -> String {
    let pattern = random.choose(&[
        "Order number 10######## was shipped.",
        "ISBN 978-#-##-######-#",
        "Version %.1#.##-rc.# of the parser",
        "On 20%1-0%-1# at 1#:##:##",
        "The host 10.##.1#.2% answered",
        "sha256:@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
        "It costs $%,###.## or €%##.##",
        "color: #@@@@@@; margin: 1#px",
        "commit @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
        "id @@@@@@@@-@@@@-4@@@-8@@@-@@@@@@@@@@@@",
        "doi:10.####/j.####.20%1.0####",
        "The list holds %,###,### items in %## buckets",
        "Figure %.# shows %#% of the data",
        "Return the number of items in the sequence.",
        "If the file is not open, an error of type ValueError is raised.",
        "Changed in version 3.1#: the default encoding is UTF-8.",
        "See section %.#.# of RFC ####, page 1##.",
        "The Garbage Collector may run when Python exits.",
        "Model XR-####-## with 1## GB of memory",
        "arXiv:2%1#.0####",
        "| %## | 1,### | 0.%## | 20%1-1#-0# |",
        "Call the function twice and text the result.",
        "Mark the box, then Grant Access to the Hope Project.",
        "May Day falls on a Sunday; Will Power is needed.",
        "The Street View cars and the Google Drive files",
        "for i in range(1#, 20#): print(i)",
        "GET /v2/items/%#####?page=1#&limit=50",
        "Reading about Mobile Phones and Nice Colours",
        "The Oxford comma",
        "Tel Quel was a magazine",
        "Article %#(#) of Regulation (EU) 20%1/####",
        "PMID 2#######",
        "EAN 40############",
        "aspect ratio 16:9, 1920x1080, 59.94 fps",
        "size=10485760 offset=4294967296",
        "0x7fff5fbff8c0",
        "EUR 1.###.###,##",
        "call stack depth is 1024",
    ]);
    random.fill(pattern)
}
