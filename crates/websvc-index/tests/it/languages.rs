//! Searches of one index in many languages.

use crate::support::{Fixture, page};

fn world() -> Fixture {
    Fixture::new([
        page(
            "en.test/",
            "Running shoes",
            "The best shoes for those who were running in the rain and for the trail.",
        ),
        page(
            "de.test/",
            "Häuser kaufen",
            "Die Häuser in der Straße sind alt und werden nicht von der Stadt verkauft.",
        ),
        page(
            "fr.test/",
            "Les élections",
            "Les citoyens ont voté aux élections de l'Assemblée dans toutes les régions de France.",
        ),
        page(
            "ru.test/",
            "Новости науки",
            "Учёные открыли новую планету, и она похожа на Землю, но больше, чем она.",
        ),
        page(
            "es.test/",
            "Comunicaciones",
            "Las comunicaciones entre los países de la región son cada vez más rápidas y no cuestan nada.",
        ),
        page("zh.test/", "北京旅游指南", "故宫博物院位于北京市中心，是中国最大的古代文化艺术博物馆。"),
        page("ja.test/", "東京の観光", "東京タワーは日本の首都にある電波塔です。夜景がとても綺麗です。"),
        page("ko.test/", "서울 여행", "서울은 대한민국의 수도이며 가장 큰 도시입니다."),
        page("th.test/", "กรุงเทพมหานคร", "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"),
    ])
}

#[test]
fn words_match_by_stem_in_their_language() {
    let world = world();
    world.check("run shoe", &["en.test/"]);
    world.check("Haus", &["de.test/"]);
    world.check("haeuser OR häuser", &["de.test/"]);
    world.check("élection", &["fr.test/"]);
    world.check("assemblée", &["fr.test/"]);
    world.check("планеты", &["ru.test/"]);
    world.check("comunicación", &["es.test/"]);
}

#[test]
fn accents_and_case_are_ignored() {
    let world = world();
    world.check("ELECTIONS", &["fr.test/"]);
    world.check("hauser STRASSE", &["de.test/"]);
    world.check("ученые", &["ru.test/"]);
    world.check("Assemblee", &["fr.test/"]);
}

#[test]
fn scripts_without_spaces_are_searchable() {
    let world = world();
    world.check("博物馆", &["zh.test/"]);
    world.check("故宫", &["zh.test/"]);
    world.check("\"中国最大\"", &["zh.test/"]);
    world.check("\"大中国\"", &[]);
    world.check("電波塔", &["ja.test/"]);
    world.check("タワー", &["ja.test/"]);
    world.check("塔", &["ja.test/"]);
    world.check("intitle:観光", &["ja.test/"]);
    world.check("수도", &["ko.test/"]);
    world.check("เมืองหลวง", &["th.test/"]);
}

#[test]
fn hits_have_the_language_of_the_page() {
    let world = world();
    for (query, language) in [
        ("shoes", "en"),
        ("Häuser", "de"),
        ("élections", "fr"),
        ("планету", "ru"),
        ("東京タワー", "ja"),
        ("故宫", "zh"),
    ] {
        let hits = world.search(query, &websvc_index::SearchOptions::default()).hits;
        assert_eq!(hits[0].language.as_deref(), Some(language), "{query}");
    }
}

#[test]
fn query_of_stop_words_matches_them_as_a_phrase_first() {
    let fixture = Fixture::new([
        page("a.test/", "Hamlet", "To be, or not to be, that is the question."),
        page("b.test/", "Other", "It is not the case that we ought to be there or here."),
    ]);
    fixture.check("to be or not to be", &["a.test/", "b.test/"]);
    fixture.check("\"to be or not to be\"", &["a.test/"]);
}

#[test]
fn diacritics_are_optional_in_documents_and_in_queries() {
    let world = Fixture::new([
        page("pl.test/", "Łódź", "Zażółć gęślą jaźń, napisał łódzki poeta o swoim mieście."),
        page("cs.test/", "Kůň", "Příliš žluťoučký kůň úpěl ďábelské ódy v lese."),
        page("vi.test/", "Hồ Chí Minh", "Thành phố Hồ Chí Minh là đô thị lớn nhất Việt Nam."),
        page("tr.test/", "İstanbul", "İstanbul büyük bir şehirdir ve Boğaz kıyısında kurulmuştur."),
        page("el.test/", "Αθήνα", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και η μεγαλύτερη πόλη της."),
        page("plain.test/", "Muenchen", "The cafe in Zurich serves creme brulee and jalapeno."),
    ]);
    for (query, found) in [
        ("lodz zazolc", "pl.test/"),
        ("ŁÓDŹ", "pl.test/"),
        ("zlutoucky kun", "cs.test/"),
        ("žluťoučký", "cs.test/"),
        ("do thi lon nhat", "vi.test/"),
        ("đô thị", "vi.test/"),
        ("istanbul buyuk", "tr.test/"),
        ("αθηνα", "el.test/"),
        ("café zürich", "plain.test/"),
        ("crème brûlée jalapeño", "plain.test/"),
        ("intitle:\"ho chi minh\"", "vi.test/"),
    ] {
        world.check(query, &[found]);
    }
}

#[test]
fn words_of_other_scripts_are_found_in_sentences() {
    let world = Fixture::new([
        page("ar.test/", "المكتبة", "ذهب الطالب إلى المكتبة وقرأ الكتاب الجديد في المساء."),
        page("he.test/", "ירושלים", "ירושלים היא בירת ישראל והעיר הגדולה ביותר בה."),
        page("hi.test/", "दिल्ली", "नई दिल्ली भारत की राजधानी है और एक बड़ा शहर है।"),
        page("th.test/", "ภาษาไทย", "ภาษาไทยเป็นภาษาราชการของประเทศไทยและมีผู้พูดหลายล้านคน"),
        page("ja.test/", "プログラミング", "コンピュータプログラミングを学ぶための入門書です。"),
        page("zh.test/", "智能手机", "这款智能手机支持iPhone充电器，并且价格便宜。"),
    ]);
    for (query, found) in [
        ("كتاب", "ar.test/"),
        ("ירושלים", "he.test/"),
        ("राजधानी", "hi.test/"),
        ("ราชการ", "th.test/"),
        ("ประเทศไทย", "th.test/"),
        ("\"ภาษาราชการ\"", "th.test/"),
        ("プログラミング", "ja.test/"),
        ("入門", "ja.test/"),
        ("手机", "zh.test/"),
        ("iphone", "zh.test/"),
    ] {
        world.check(query, &[found]);
    }
    world.check("\"ราชการภาษา\"", &[]);
    world.check("\"手机智能\"", &[]);
}
