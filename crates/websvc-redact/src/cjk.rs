//! Names and addresses in Chinese, Japanese and Korean, which have no spaces between words.

use crate::kind::Kind;
use crate::scan::{Scan, TextPart};

/// Honorifics that follow the name of a person.
const HONORIFICS: &[&str] = &[
    "様",
    "さん",
    "氏",
    "くん",
    "ちゃん",
    "先生",
    "女士",
    "小姐",
    "老师",
    "教授",
    "씨",
    "님",
    "선생님",
    "박사",
    "교수",
];
/// Words before an honorific that are not names.
const NO_NAMES: &[&str] = &[
    "客",
    "皆",
    "奥",
    "神",
    "王",
    "会員",
    "各位",
    "担当者",
    "고객",
    "회원",
    "사장",
    "부모",
    "선생",
    "大学",
    "弁護士",
];
/// A longer name has no honorific behind it.
const LONGEST_NAME: usize = 4;
/// Runs are looked at in pieces of so many characters.
const LONGEST_RUN: usize = 256;

/// Returns whether the character belongs to a script without spaces, or to Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

fn is_name(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{30a1}'..='\u{30fa}' | 'ー')
}

/// Looks at a run of such characters; returns where it ends.
pub(crate) fn run(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let text = &scan.text[at..part.end];
    let length: usize = text.chars().take(LONGEST_RUN).take_while(|c| is_cjk(*c)).map(char::len_utf8).sum();
    let run = &text[..length];
    scan.work += length as u64;
    if scan.wants(Kind::Person) {
        names(scan, at, run);
    }
    if scan.wants(Kind::Location) {
        address(scan, part, at, run);
    }
    at + length
}

fn names(scan: &mut Scan<'_>, at: usize, run: &str) {
    for (place, c) in run.char_indices() {
        if !matches!(
            c,
            '様' | 'さ'
                | '氏'
                | 'く'
                | 'ち'
                | '先'
                | '女'
                | '小'
                | '老'
                | '教'
                | '씨'
                | '님'
                | '선'
                | '박'
                | '교'
        ) {
            continue;
        }
        if place == 0 || !HONORIFICS.iter().any(|honorific| run[place..].starts_with(honorific)) {
            continue;
        }
        let head = &run[..place];
        let chars = head.chars().rev().take(LONGEST_NAME + 1).take_while(|c| is_name(*c));
        let (count, length) = chars.fold((0, 0), |(count, length), c| (count + 1, length + c.len_utf8()));
        let name = &head[head.len() - length..];
        let latin = (1..=LONGEST_NAME).contains(&count) && !NO_NAMES.iter().any(|no| name.ends_with(no));
        if latin && (count >= 2 || c == '先' || c == '女') {
            scan.find(Kind::Person, at + place - length..at + place);
        }
    }
}

/// An address from its prefecture, province or city to the number of the house.
fn address(scan: &mut Scan<'_>, part: TextPart, at: usize, run: &str) {
    let mut region = None;
    let mut district = false;
    for (place, c) in run.char_indices() {
        if region.is_none() && place >= 6 && matches!(c, '都' | '道' | '府' | '県' | '省' | '市') {
            region = Some(place);
        } else if region.is_some() && matches!(c, '市' | '区' | '町' | '村' | '县' | '路' | '街' | '郡')
        {
            district = true;
        }
    }
    let (Some(region), true) = (region, district) else { return };
    let tail = &scan.text[at + run.len()..part.end];
    let number = tail.bytes().take(16).take_while(|b| b.is_ascii_digit() || *b == b'-').count();
    let ends_numbered = run.ends_with(['号', '番', '目']) || run.contains("丁目");
    if number == 0 && !ends_numbered {
        return;
    }
    let after = ["号", "番地", "番", "室"]
        .iter()
        .find(|unit| tail[number..].starts_with(**unit))
        .map_or(0, |unit| unit.len());
    let start = run[..region].rfind(['は', 'が', 'に', 'の', 'を', 'で', '在', '于', '住', '址', '所']);
    let start = start.map_or(0, |place| place + 'は'.len_utf8());
    let end = at + run.len() + number + after;
    scan.find(Kind::Location, at + start..end);
    scan.resume = scan.resume.max(end);
}
