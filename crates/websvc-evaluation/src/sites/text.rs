//! Filler text: paragraphs in several languages, the same in every run.

/// Words of the English sentences.
const ENGLISH_WORDS: &[&str] = &[
    "garden",
    "reading room",
    "staircase",
    "workshop",
    "archive",
    "north wing",
    "café",
    "courtyard",
    "collection",
    "bell tower",
    "map room",
    "greenhouse",
    "footbridge",
    "lecture hall",
    "market",
    "old mill",
    "signal box",
    "boathouse",
];

/// A language of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Polish,
    Russian,
    Japanese,
}

impl Language {
    /// Returns the language tag.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Italian => "it",
            Self::Polish => "pl",
            Self::Russian => "ru",
            Self::Japanese => "ja",
        }
    }

    /// Returns sentences in which `{}` stands for a word of [`Language::words`]. They contain no digits, so no rule for
    /// a value finds one in them.
    fn sentences(self) -> &'static [&'static str] {
        match self {
            Self::English => &[
                "The {} has been part of daily life here for a long time, and most people know it from school.",
                "Visitors often ask about the {} first, although the {} is just as close to the entrance.",
                "In the early years the {} was kept by volunteers who met on weekday evenings.",
                "Nothing about the {} was planned, and yet it became the model for many others.",
                "A careful reader will notice that the {} and the {} are described in different words.",
                "After the last renovation, the {} moved to the other side of the courtyard.",
                "The committee discussed the {} at length and left the decision to a smaller group.",
                "Our staff are happy to explain the {} on request, also in sign language.",
                "Letters from that period mention the {} only in passing.",
                "Whether the {} should be extended is still an open question.",
                "For further details about the {}, please turn to the information point.",
                "The {} is maintained with the support of friends, neighbors and local firms.",
            ],
            Self::German => &[
                "Die Bedeutung von {} wird in der Stadt seit langem lebhaft diskutiert.",
                "Wer sich für {} interessiert, sollte auch {} nicht vergessen.",
                "In den ersten Jahren kümmerten sich Freiwillige um {} und trafen sich am Abend.",
                "Nach dem letzten Umbau wurde {} auf die andere Seite des Hofes verlegt.",
                "Der Ausschuss hat über {} ausführlich beraten und die Entscheidung vertagt.",
                "Weitere Auskünfte über {} erteilt die Verwaltung gern auf Anfrage.",
            ],
            Self::French => &[
                "Depuis longtemps, {} fait partie de la vie quotidienne de la commune.",
                "Les visiteurs demandent souvent où se trouve {}, et parfois aussi {}.",
                "Au début, des bénévoles s'occupaient de {} et se retrouvaient le soir.",
                "Après les derniers travaux, {} a changé de place dans la cour.",
                "Le comité a longuement parlé de {} sans prendre de décision.",
                "Pour en savoir plus sur {}, adressez-vous à l'accueil.",
            ],
            Self::Spanish => &[
                "Desde hace mucho tiempo, {} forma parte de la vida del barrio.",
                "Los visitantes suelen preguntar por {}, y a veces también por {}.",
                "Al principio, unos voluntarios cuidaban {} y se reunían por la tarde.",
                "Después de las últimas obras, {} cambió de lugar en el patio.",
                "La comisión habló largamente sobre {} y aplazó la decisión.",
                "Para más detalles sobre {}, consulte en la recepción.",
            ],
            Self::Italian => &[
                "Da molto tempo {} fa parte della vita del quartiere.",
                "I visitatori chiedono spesso di {}, e a volte anche di {}.",
                "All'inizio alcuni volontari curavano {} e si incontravano la sera.",
                "Dopo gli ultimi lavori {} ha cambiato posto nel cortile.",
                "Per altre notizie su {} ci si può rivolgere alla portineria.",
            ],
            Self::Polish => &[
                "Od dawna {} jest częścią życia dzielnicy.",
                "Goście często pytają o {}, a czasem także o {}.",
                "Na początku wolontariusze dbali o {} i spotykali się wieczorami.",
                "Po ostatnim remoncie {} przeniesiono na drugą stronę dziedzińca.",
                "Więcej informacji o {} można uzyskać w punkcie obsługi.",
            ],
            Self::Russian => &[
                "С давних пор {} является частью жизни района.",
                "Посетители часто спрашивают про {}, а иногда и про {}.",
                "В первые годы добровольцы заботились о том, чтобы {} оставалось доступным.",
                "После последнего ремонта {} находится по другую сторону двора.",
                "Подробнее про {} можно узнать у дежурного.",
            ],
            Self::Japanese => &[
                "{}は昔から町の暮らしの一部です。",
                "訪れる人は{}についてよく尋ね、ときには{}についても尋ねます。",
                "初めのころは、ボランティアが夕方に集まって{}を守っていました。",
                "最後の改修のあと、{}は中庭の反対側に移りました。",
                "{}について詳しくは案内所でお尋ねください。",
            ],
        }
    }

    fn words(self) -> &'static [&'static str] {
        match self {
            Self::English => ENGLISH_WORDS,
            Self::German => &[
                "Garten",
                "Lesesaal",
                "Werkstatt",
                "Archiv",
                "Nordflügel",
                "Innenhof",
                "Sammlung",
                "Glockenturm",
                "Gewächshaus",
                "Hörsaal",
                "Markt",
                "Mühle",
            ],
            Self::French => &[
                "le jardin",
                "la salle de lecture",
                "l'atelier",
                "la cour",
                "la collection",
                "le clocher",
                "la serre",
                "le marché",
                "le moulin",
                "la passerelle",
            ],
            Self::Spanish => &[
                "el jardín",
                "la sala de lectura",
                "el taller",
                "el archivo",
                "el patio",
                "la torre",
                "el invernadero",
                "el mercado",
                "el molino",
            ],
            Self::Italian => &[
                "il giardino",
                "la sala di lettura",
                "la bottega",
                "la corte",
                "la torre",
                "la serra",
                "il mercato",
                "il mulino",
            ],
            Self::Polish => {
                &["ogród", "czytelnia", "pracownia", "archiwum", "dziedziniec", "wieża", "targ", "młyn"]
            }
            Self::Russian => {
                &["сад", "читальный зал", "мастерская", "архив", "двор", "башня", "рынок", "мельница"]
            }
            Self::Japanese => &["庭園", "閲覧室", "工房", "書庫", "中庭", "塔", "市場", "水車小屋"],
        }
    }
}

/// A generator of filler text.
#[derive(Debug)]
pub(super) struct Filler {
    language: Language,
    state: u64,
}

impl Filler {
    /// Creates a generator. The same seed gives the same text.
    pub(super) fn new(language: Language, seed: &str) -> Self {
        // FNV-1a.
        let state = seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { language, state }
    }

    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 40).unwrap_or_default() % bound
    }

    fn choose(&mut self, among: &'static [&'static str]) -> &'static str {
        among[self.below(among.len())]
    }

    pub(super) fn sentence(&mut self) -> String {
        let template = self.choose(self.language.sentences());
        let mut sentence = String::new();
        let mut pieces = template.split("{}");
        sentence.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            sentence.push_str(self.choose(self.language.words()));
            sentence.push_str(piece);
        }
        sentence
    }

    /// Returns a paragraph of three to six sentences.
    pub(super) fn paragraph(&mut self) -> String {
        let sentences: Vec<String> = (0..3 + self.below(4)).map(|_| self.sentence()).collect();
        sentences.join(" ")
    }
}
