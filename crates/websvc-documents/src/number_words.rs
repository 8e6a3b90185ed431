//! Numbers of list items in the formats of office programs: letters, Roman numerals, ordinals.

/// The largest number that is written in Roman numerals.
const MAX_ROMAN: u64 = 3999;
/// The largest number that is written in letters: 20 repetitions of a letter.
const MAX_LETTERS: u64 = 26 * 20;

/// Formats a number in a format of Word (ECMA-376, part 1, section 17.18.59). Unknown formats are decimal.
pub(crate) fn format(number: u64, name: &str) -> String {
    match name {
        "none" => String::new(),
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalZero" => format!("{number:02}"),
        "ordinal" => format!("{number}{}", ordinal_suffix(number)),
        "cardinalText" => capitalized(&words(number, CARDINALS)),
        "ordinalText" => capitalized(&words(number, ORDINALS)),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => circled(number),
        "decimalFullWidth" | "decimalFullWidth2" => {
            // The full-width digits begin at U+FF10.
            number
                .to_string()
                .chars()
                .filter_map(|digit| char::from_u32(u32::from(digit) - 0x30 + 0xff10))
                .collect()
        }
        "chineseCounting"
        | "chineseCountingThousand"
        | "ideographDigital"
        | "japaneseCounting"
        | "japaneseDigitalTenThousand"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "koreanCounting" => chinese(number, &CHINESE),
        "chineseLegalSimplified" | "ideographLegalTraditional" | "japaneseLegal" => {
            chinese(number, &CHINESE_LEGAL)
        }
        "ideographTraditional" => of_list(number, "甲乙丙丁戊己庚辛壬癸"),
        "ideographZodiac" => of_list(number, "子丑寅卯辰巳午未申酉戌亥"),
        "aiueo" | "aiueoFullWidth" => of_list(
            number,
            "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
        ),
        "iroha" | "irohaFullWidth" => of_list(
            number,
            "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
        ),
        "ganada" => of_list(number, "가나다라마바사아자차카타파하"),
        "russianLower" => of_list(number, "абвгдежзиклмнопрстуфхцчшщыэюя"),
        "russianUpper" => of_list(number, "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ"),
        _ => number.to_string(),
    }
}

/// The digits from one to nine, and ten, hundred and thousand.
const CHINESE: [char; 12] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千'];
const CHINESE_LEGAL: [char; 12] = ['壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖', '拾', '佰', '仟'];

/// Returns a number up to 9999 in Chinese characters.
fn chinese(number: u64, signs: &[char; 12]) -> String {
    if number == 0 || number > 9999 {
        return number.to_string();
    }
    let mut text = String::new();
    let (mut rest, mut has_gap) = (number, false);
    for (unit, value) in [(Some(signs[11]), 1000), (Some(signs[10]), 100), (Some(signs[9]), 10), (None, 1)] {
        let digit = usize::try_from(rest / value).unwrap_or_default();
        rest %= value;
        if digit == 0 {
            has_gap = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut has_gap) {
            text.push('零');
        }
        // Ten is written without a one in front of it.
        if !(value == 10 && digit == 1 && text.is_empty()) {
            text.push(signs[digit - 1]);
        }
        text.extend(unit);
    }
    text
}

/// Returns the sign of a number in a list of signs; decimal beyond its end.
fn of_list(number: u64, signs: &str) -> String {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| signs.chars().nth(index)).map_or_else(|| number.to_string(), String::from)
}

/// Returns `a` to `z`, then `aa` to `zz`, as Word and OpenDocument count.
fn letters(number: u64) -> String {
    if number == 0 || number > MAX_LETTERS {
        return number.to_string();
    }
    let index = number - 1;
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or_default());
    (0..=index / 26).map(|_| letter).collect()
}

fn roman(number: u64) -> String {
    const SIGNS: [(u64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number == 0 || number > MAX_ROMAN {
        return number.to_string();
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    text
}

fn ordinal_suffix(number: u64) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn circled(number: u64) -> String {
    let sign = u32::try_from(number).ok().filter(|number| (1..=20).contains(number));
    match sign.and_then(|number| char::from_u32(0x245f + number)) {
        Some(sign) => sign.to_string(),
        None => number.to_string(),
    }
}

const CARDINALS: &str = "one two three four five six seven eight nine ten eleven \
    twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty";
const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh \
    twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth";

fn words(number: u64, names: &str) -> String {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| names.split(' ').nth(index)).map_or_else(|| number.to_string(), str::to_owned)
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_word() {
        for (number, name, expected) in [
            (1, "lowerLetter", "a"),
            (28, "upperLetter", "BB"),
            (u64::MAX, "lowerLetter", "18446744073709551615"),
            (4, "lowerRoman", "iv"),
            (1994, "upperRoman", "MCMXCIV"),
            (0, "upperRoman", "0"),
            (5, "decimalZero", "05"),
            (12, "ordinal", "12th"),
            (22, "ordinal", "22nd"),
            (3, "cardinalText", "Three"),
            (2, "ordinalText", "Second"),
            (3, "decimalEnclosedCircle", "③"),
            (9, "chineseCounting", "九"),
            (10, "chineseCountingThousand", "十"),
            (111, "chineseCountingThousand", "一百一十一"),
            (205, "chineseCountingThousand", "二百零五"),
            (2, "chineseLegalSimplified", "贰"),
            (3, "ideographTraditional", "丙"),
            (11, "ideographTraditional", "11"),
            (12, "decimalFullWidth", "１２"),
            (3, "none", ""),
            (3, "unknown", "3"),
        ] {
            assert_eq!(format(number, name), expected, "{number} {name}");
        }
    }
}
