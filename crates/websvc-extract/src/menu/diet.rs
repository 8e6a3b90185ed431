//! Diets by the terms of schema.org, and by the words and marks of menus.

/// Words of a diet in names and descriptions, in lower case.
const WORDS: [(&str, &str); 22] = [
    ("vegetarian", "vegetarian"),
    ("vegetarisch", "vegetarian"),
    ("vegetarische", "vegetarian"),
    ("végétarien", "vegetarian"),
    ("végétarienne", "vegetarian"),
    ("vegetariano", "vegetarian"),
    ("vegetariana", "vegetarian"),
    ("veggie", "vegetarian"),
    ("vegan", "vegan"),
    ("vegane", "vegan"),
    ("veganer", "vegan"),
    ("veganes", "vegan"),
    ("végan", "vegan"),
    ("végane", "vegan"),
    ("vegano", "vegan"),
    ("vegana", "vegan"),
    ("glutenfrei", "gluten-free"),
    ("glutenfree", "gluten-free"),
    ("glutenvrij", "gluten-free"),
    ("halal", "halal"),
    ("kosher", "kosher"),
    ("koscher", "kosher"),
];

/// Phrases of a diet.
const PHRASES: [(&str, &str); 4] = [
    ("gluten-free", "gluten-free"),
    ("gluten free", "gluten-free"),
    ("sin gluten", "gluten-free"),
    ("sans gluten", "gluten-free"),
];

/// Words before or after the name of a diet that say that the dish itself is not suitable.
const NEGATIONS: [&str; 8] = ["not", "non", "no", "nicht", "option", "options", "available", "possible"];

/// Returns the diet of a term such as `https://schema.org/VeganDiet`.
pub(super) fn of_term(term: &str) -> Option<String> {
    let name = term.trim().trim_end_matches('/').rsplit(['/', '#', ':']).next()?;
    let name = name.strip_suffix("Diet").unwrap_or(name).to_lowercase();
    let name = match name.as_str() {
        "glutenfree" => "gluten-free".to_owned(),
        "lowlactose" => "low-lactose".to_owned(),
        "lowcalorie" => "low-calorie".to_owned(),
        "lowfat" => "low-fat".to_owned(),
        "lowsalt" => "low-salt".to_owned(),
        _ => name,
    };
    (!name.is_empty() && name.len() <= 40).then_some(name)
}

/// Returns the diet of a mark such as `VG`.
fn of_mark(mark: &str) -> Option<&'static str> {
    Some(match mark {
        "V" | "v" | "VEG" | "Veg" => "vegetarian",
        "VG" | "Vg" | "vg" | "VE" | "Ve" | "ve" | "VGN" | "VEGAN" | "Vegan" | "vegan" => "vegan",
        "GF" | "Gf" | "gf" => "gluten-free",
        "H" => "halal",
        "K" => "kosher",
        _ => return None,
    })
}

/// Removes the marks in brackets from a name, and returns the diets that they name.
pub(super) fn take_marks(name: &mut String) -> Vec<String> {
    let mut diets = Vec::new();
    let mut from = 0;
    while let Some(open) = name[from..].find(['(', '[']).map(|at| at + from) {
        let Some(close) = name[open..].find([')', ']']).map(|at| at + open) else { break };
        let marks: Vec<&str> =
            name[open + 1..close].split([',', '/', ' ', '|', '&']).filter(|mark| !mark.is_empty()).collect();
        let found: Option<Vec<&str>> = marks.iter().map(|mark| of_mark(mark)).collect();
        match found.filter(|found| !found.is_empty()) {
            Some(found) => {
                diets.extend(found.into_iter().map(str::to_owned));
                name.replace_range(open..=close, "");
                from = open;
            }
            None => from = close + 1,
        }
    }
    // Marks of two letters also stand alone at the end: `Falafel VG`.
    while let Some((rest, mark)) = name.trim_end().rsplit_once(' ') {
        let diet = if matches!(mark, "VG" | "VE" | "GF" | "V") { of_mark(mark) } else { None };
        let Some(diet) = diet else { break };
        diets.push(diet.to_owned());
        *name = rest.to_owned();
    }
    *name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    diets
}

/// Returns the diets that a name or description states in words.
pub(super) fn in_words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_negated = |at: usize| {
        let near = [at.checked_sub(1), Some(at + 1)];
        near.into_iter().flatten().any(|near| words.get(near).is_some_and(|word| NEGATIONS.contains(word)))
    };
    let mut diets = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let diet = WORDS.iter().find(|(known, _)| known == word).map(|(_, diet)| *diet);
        diets.extend(diet.filter(|_| !is_negated(at)).map(str::to_owned));
    }
    for (phrase, diet) in PHRASES {
        let is_stated = text.match_indices(phrase).any(|(at, _)| {
            let after =
                text[at + phrase.len()..].split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
            !after.is_some_and(|word| NEGATIONS.contains(&word))
        });
        if is_stated {
            diets.push(diet.to_owned());
        }
    }
    diets
}

/// Returns the diets in order, each once.
pub(super) fn distinct(diets: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for diet in diets {
        if !out.contains(&diet) && out.len() < 20 {
            out.push(diet);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_from_the_name() {
        for (name, rest, diets) in [
            ("Falafel (VG, GF)", "Falafel", &["vegan", "gluten-free"][..]),
            ("Soup (v) of the day", "Soup of the day", &["vegetarian"]),
            ("Curry VG", "Curry", &["vegan"]),
            ("Steak (300 g)", "Steak (300 g)", &[]),
            ("V", "V", &[]),
        ] {
            let mut name = name.to_owned();
            assert_eq!(take_marks(&mut name), diets, "{name}");
            assert_eq!(name, rest);
        }
    }

    #[test]
    fn words_count_unless_they_are_negated() {
        for (text, diets) in [
            ("Vegan curry", &["vegan"][..]),
            ("Vegan option available", &[]),
            ("not vegetarian", &[]),
            ("Gluten-free pasta", &["gluten-free"]),
            ("gluten free option", &[]),
        ] {
            assert_eq!(in_words(text), diets, "{text}");
        }
    }
}
