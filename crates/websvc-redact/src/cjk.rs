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
const NOT_NAMES: &[&str] = &[
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
/// The maximum number of characters of a name before an honorific.
const MAX_NAME_CHARS: usize = 4;
/// The maximum number of characters of a run that are examined at once.
const MAX_RUN_CHARS: usize = 256;

/// Returns whether the character belongs to a script without spaces, or to Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

/// Returns whether a name may contain the character.
fn is_name_char(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{30a1}'..='\u{30fa}' | 'ー')
}

/// Finds names and addresses in a run of such characters. Returns the end of the run.
pub(crate) fn run(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let text = &scan.text[at..part.end];
    let length: usize = text.chars().take(MAX_RUN_CHARS).take_while(|c| is_cjk(*c)).map(char::len_utf8).sum();
    let run = &text[..length];
    scan.work += length as u64;
    if scan.wants(Kind::Person) {
        find_names(scan, at, run);
    }
    if scan.wants(Kind::Location) {
        find_address(scan, part, at, run);
    }
    at + length
}

/// Finds names before honorifics.
fn find_names(scan: &mut Scan<'_>, at: usize, run: &str) {
    for (position, c) in run.char_indices() {
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
        if position == 0 || !HONORIFICS.iter().any(|honorific| run[position..].starts_with(honorific)) {
            continue;
        }
        let head = &run[..position];
        let chars = head.chars().rev().take(MAX_NAME_CHARS + 1).take_while(|c| is_name_char(*c));
        let (count, length) = chars.fold((0, 0), |(count, length), c| (count + 1, length + c.len_utf8()));
        let name = &head[head.len() - length..];
        let is_name =
            (1..=MAX_NAME_CHARS).contains(&count) && !NOT_NAMES.iter().any(|word| name.ends_with(word));
        if is_name && (count >= 2 || c == '先' || c == '女') {
            scan.record(Kind::Person, at + position - length..at + position);
        }
    }
}

/// Finds an address, from its prefecture, province or city to the house number.
fn find_address(scan: &mut Scan<'_>, part: TextPart, at: usize, run: &str) {
    let mut region = None;
    let mut has_district = false;
    for (position, c) in run.char_indices() {
        if region.is_none() && position >= 6 && matches!(c, '都' | '道' | '府' | '県' | '省' | '市') {
            region = Some(position);
        } else if region.is_some() && matches!(c, '市' | '区' | '町' | '村' | '县' | '路' | '街' | '郡')
        {
            has_district = true;
        }
    }
    let (Some(region), true) = (region, has_district) else { return };
    let tail = &scan.text[at + run.len()..part.end];
    let number = tail.bytes().take(16).take_while(|b| b.is_ascii_digit() || *b == b'-').count();
    let ends_numbered = run.ends_with(['号', '番', '目']) || run.contains("丁目");
    if number == 0 && !ends_numbered {
        return;
    }
    let unit_length = ["号", "番地", "番", "室"]
        .iter()
        .find(|unit| tail[number..].starts_with(**unit))
        .map_or(0, |unit| unit.len());
    let start = run[..region].rfind(['は', 'が', 'に', 'の', 'を', 'で', '在', '于', '住', '址', '所']);
    let start = start.map_or(0, |position| position + 'は'.len_utf8());
    let end = at + run.len() + number + unit_length;
    scan.record_whole(Kind::Location, at + start..end);
}
