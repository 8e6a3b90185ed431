//! Tests of each kind, one line per case: the expected findings are between `‹` and `›`.

use websvc_redact::{Kind, Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

#[track_caller]
pub(crate) fn check(kind: Kind, mode: RedactMode, marked: &str) {
    let text = marked.replace(['‹', '›'], "");
    let options = Options { mode, kinds: Kinds::NONE.with(kind), style: ReplacementStyle::Tag };
    let redaction = redact(&text, Syntax::Markdown, &options);
    let mut actual = String::new();
    let mut at = 0;
    for finding in &redaction.findings {
        actual.push_str(&text[at..finding.range.start]);
        actual.push('‹');
        actual.push_str(&text[finding.range.clone()]);
        actual.push('›');
        at = finding.range.end;
    }
    actual.push_str(&text[at..]);
    assert_eq!(actual, marked, "{}", kind.name());
}

#[track_caller]
fn check_all(kind: Kind, cases: &[&str]) {
    for case in cases {
        check(kind, RedactMode::Fast, case);
    }
}

#[test]
fn mail_address_is_found_in_any_context() {
    check_all(
        Kind::Email,
        &[
            "Write to ‹jane.doe+tea@mail.example.co.uk›.",
            "**‹jane@example.com›** _‹joe@example.com›_ *‹jim@example.com›*",
            "(‹jane_doe@example.com›), \"‹x@example.org›\"; ‹y@example.net›",
            "‹münchen@straße.de› and ‹用户@例子.中国›",
            "| ‹a@example.com› | ‹b@example.com› |",
            "user=‹jane@example.com›",
            "‹o'neil@example.ie›",
            "联系‹wang@example.cn›。",
        ],
    );
}

#[test]
fn text_with_at_sign_only_is_not_a_mail_address() {
    check_all(
        Kind::Email,
        &[
            "icon@2x.png",
            "@user said @all",
            "foo@bar",
            "a @ b.com",
            "`git@github.com:a/b.git`",
            "5@3.14",
            "x@.com",
        ],
    );
}

#[test]
fn telephone_number_is_found_by_plan_format_or_word() {
    check_all(
        Kind::Phone,
        &[
            "‹+49 30 901820›, ‹+1 (415) 555-0132›, ‹+44 (0)20 7946 0958›, ‹+33 1 23 45 67 89›.",
            "‹(212) 555-0187› or ‹212-555-0187› or ‹212.555.0187› or ‹1-800-555-0199›",
            "‹020 7946 0958›, ‹01 23 45 67 89›, ‹03-1234-5678›, ‹(02) 9876 5432›",
            "Tel.: ‹089/1234567›, Mobil ‹0171 2345678›, téléphone ‹0123456789›",
            "Call us: ‹555-0123›",
            "電話:‹03-1234-5678›",
            "WhatsApp ‹+55 11 91234-5678›",
        ],
    );
}

#[test]
fn other_number_is_not_a_telephone_number() {
    check_all(
        Kind::Phone,
        &[
            "Order 1234567890, invoice 2024-000123, SKU 555-123-4567",
            "ISBN 978-3-16-148410-0, 2024-05-17 10:30:00, 17.05.2024, 192.168.100.200",
            "Population 1 234 567, price $1,234,567.89, 3.14159265, v10.20.30",
            "1999-2004, 2001:0db8:85a3:0000:0000:8a2e:0370:7334, 550e8400-e29b-41d4-a716-446655440000",
            "+999 1234567 and +49 1",
            "1234567 rows, 10000000 bytes, 1700000000",
        ],
    );
}

#[test]
fn financial_number_is_found_by_its_check_or_word() {
    check_all(
        Kind::Financial,
        &[
            "‹4111 1111 1111 1111› ‹5555-5555-5555-4444› ‹378282246310005› ‹6011111111111117›",
            "‹DE89 3704 0044 0532 0130 00› ‹GB82WEST12345698765432› ‹NL91 ABNA 0417 1643 00›",
            "routing number ‹021000021›, account number ‹12345678901›, BIC ‹DEUTDEFF500›",
            "SSN ‹123-45-6789›, sort code ‹12-34-56›",
            "4111 1111 1111 1112, 1234567812345678, DE89 3704 0044 0532 0130 01, 000-12-3456",
            "0000 0000 0000 0000, 021000021, DEUTDEFF, 12-34-56",
        ],
    );
}

#[test]
fn secret_is_found_by_format_name_or_randomness() {
    check_all(
        Kind::Secret,
        &[
            "key ‹AKIAIOSFODNN7EXAMPLE›, ‹ghp_16C7e42F292c6912E7710c838347Ae178B4a›",
            "password: ‹hunter2!›, then",
            "postgres://app:‹s3cr3tpw›@db.example.com/x",
            "Authorization: Bearer ‹mF9xB5f4Q1JqM3aZ8kT2›",
            "`token=‹Zx9kLm2Qp8Rt4Vw7Yb3N›`",
            "https://a.test/?api_key=‹Zx9kLm2Qp8Rt4Vw7Yb›&q=tea",
            "‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U›",
        ],
    );
    let pem = "‹-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\nabcd==\n-----END RSA PRIVATE KEY-----›\nafter";
    check(Kind::Secret, RedactMode::Fast, pem);
    check(Kind::Secret, RedactMode::Fast, &format!("```\n{pem}\n```\n"));
}

#[test]
fn name_of_a_secret_or_placeholder_is_not_a_secret() {
    check_all(
        Kind::Secret,
        &[
            "password: must be eight characters, password = None, token=token, api_key=YOUR_API_KEY",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8, sk-cube-grid-with-a-long-name",
            "550e8400-e29b-41d4-a716-446655440000 https://user@host/x password=$PASSWORD",
            "secret_key: str, os.environ[\"API_KEY\"], the token is sent",
        ],
    );
}

#[test]
fn addresses_and_places_of_many_countries_are_found() {
    check_all(
        Kind::Location,
        &[
            "‹221B Baker Street, London NW1 6XE, UK›.",
            "‹1600 Pennsylvania Avenue NW, Washington, DC 20500›",
            "‹350 Fifth Ave, Suite 3300, New York, NY 10118›",
            "‹Hauptstraße 12, 10115 Berlin› und ‹Alte Schönhauser Straße 5›",
            "‹12 rue de la Paix, 75002 Paris›; ‹Calle Mayor 5, 28013 Madrid›; ‹Via Roma 10, 00184 Roma›",
            "‹Kerkstraat 12, 1017 GC Amsterdam›, ‹ul. Marszałkowska 10, 00-590 Warszawa›",
            "‹P.O. Box 123, Springfield, IL 62701›",
            "‹〒100-0001 東京都千代田区千代田1-1›",
            "‹52.5200, 13.4050› and ‹52°31′12″N 13°24′18″E›",
            "Made in ‹Germany›; ‹New York›-style; we met in ‹Nice› and ‹Paris, France›.",
        ],
    );
}

#[test]
fn ambiguous_word_is_not_a_place_without_evidence() {
    check_all(
        Kind::Location,
        &[
            "Nice weather. Reading books. Turkey sandwich. Split the file.",
            "3 Google Drive accounts, 5 Hard Drive failures, 10 Street View cars",
            "Version 3.1415, 2.7182 and 10000 users; Spring 2024; Chapter 5 Road map",
            "Via Slack 20 messages, String 5, 2024 reports",
        ],
    );
}

#[test]
fn name_is_found_by_title_label_or_gazetteer() {
    check_all(
        Kind::Person,
        &[
            "Dr. ‹Xochitl Quetzal›, Mrs. ‹Smith› and Herr ‹Müller› met ‹Maria García›.",
            "**Author:** ‹Jane Doe›\nAnsprechpartner: ‹Kerstin Schulze›, Raum 5",
            "‹J. K. Rowling›, ‹J. Smith› and ‹John F. Kennedy›'s friend ‹Vincent van Gogh›",
            "‹田中太郎›様, ‹王小明›先生, ‹김민수›씨",
            "‹Will Smith› will speak, ‹Tanaka Hiroshi› too.",
        ],
    );
}

#[test]
fn thing_named_after_a_person_is_not_a_name() {
    check_all(
        Kind::Person,
        &[
            "Will Python mark Complete? Rose Garden, May Day, Grant Access, Mark Price",
            "Thomas Jefferson University, Charlotte Airport",
            "お客様, 皆さん, U. S. Army, Figure A. Brown fox, Jenkins Pipeline",
            "Contact: Sales Team. Name: Project Alpha",
        ],
    );
}

#[test]
fn aggressive_mode_finds_more() {
    for case in ["Only ‹Priyanka› came.", "‹Zyxwv Sharma› spoke", "‹Smith, John›", "by ‹Q. Zyxwvut›"]
    {
        check(Kind::Person, RedactMode::Aggressive, case);
    }
    check(Kind::Location, RedactMode::Aggressive, "‹Nice› weather");
    check(Kind::Email, RedactMode::Aggressive, "`‹git@github.com›:a/b.git` https://a.test/?u=‹x@a.test›");
    check(Kind::Phone, RedactMode::Aggressive, "‹0301234567› or ‹612 345 678›");
}
