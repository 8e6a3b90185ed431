//! Currencies by their ISO 4217 codes and by symbols that only one currency has.

/// Codes that are recognized in a text. Any three letters are accepted where data names a currency.
const CODES: [&str; 60] = [
    "AED", "ARS", "AUD", "BDT", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP",
    "EUR", "GBP", "GEL", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JOD", "JPY", "KES", "KRW", "KWD", "KZT",
    "LKR", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD",
    "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD", "UAH", "USD", "UYU", "VND", "XOF", "ZAR", "MDL",
];

/// Symbols of exactly one currency. `$`, `£`, `¥` and `kr` belong to several, so they say nothing.
const SYMBOLS: [(&str, &str); 16] = [
    ("US$", "USD"),
    ("CA$", "CAD"),
    ("AU$", "AUD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("NT$", "TWD"),
    ("R$", "BRL"),
    ("€", "EUR"),
    ("₹", "INR"),
    ("₺", "TRY"),
    ("₴", "UAH"),
    ("₪", "ILS"),
    ("₫", "VND"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("฿", "THB"),
];

/// Signs of money that do not name a currency.
const SHARED_SYMBOLS: [&str; 10] = ["$", "£", "¥", "₩", "₱", "₽", "₦", "kr", "Rs", "Fr."];

/// Returns the code that the value of a field such as `priceCurrency` names: three letters, or an unambiguous symbol.
pub(crate) fn code(value: &str) -> Option<String> {
    let value = value.trim();
    if value.len() == 3 && value.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Some(value.to_ascii_uppercase());
    }
    let symbol = SYMBOLS.iter().find(|(symbol, _)| *symbol == value)?;
    Some(symbol.1.to_owned())
}

/// Returns the currency that a text with a price names, if it names exactly one.
pub(crate) fn currency_in(text: &str) -> Option<&'static str> {
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    let by_code = words.find_map(|word| CODES.iter().find(|code| **code == word)).copied();
    by_code.or_else(|| SYMBOLS.iter().find(|(symbol, _)| text.contains(symbol)).map(|(_, code)| *code))
}

/// Returns whether a text has a sign of money: a code or a symbol, whatever its currency.
pub(super) fn has_currency_sign(text: &str) -> bool {
    currency_in(text).is_some() || SHARED_SYMBOLS.iter().any(|symbol| text.contains(symbol))
}
