//! Evidence that a page without a word for a menu has one all the same: its sections are the courses of a meal, or it
//! names a place where people eat.
//!
//! A price list of a shop and a table of tariffs look the same, so a single section of food is not enough, and the page
//! must neither sell articles nor name a shop.

use super::lexicon::{MenuSense, has_sense, sense};
use crate::product::identity::words;

/// Maximum number of words in the name of a section that is a course.
const MAX_WORDS: usize = 4;

/// Minimum number of different courses.
const MIN_COURSES: usize = 2;

/// Returns whether the names of sections have several courses of a meal.
pub(super) fn has_several<'t>(names: impl Iterator<Item = &'t str>) -> bool {
    courses_in(names).iter().filter(|is_present| **is_present).count() >= MIN_COURSES
}

/// Returns whether the names of sections have a course of a meal.
pub(super) fn has_one<'t>(names: impl Iterator<Item = &'t str>) -> bool {
    courses_in(names).contains(&true)
}

/// Returns which of starters, mains and desserts the names of sections have.
fn courses_in<'t>(names: impl Iterator<Item = &'t str>) -> [bool; 3] {
    let mut courses = [false; 3];
    for name in names {
        let words = words(name);
        if words.len() <= MAX_WORDS {
            courses[0] |= has_sense(&words, MenuSense::STARTER);
            courses[1] |= is_main_course(&words);
            courses[2] |= has_sense(&words, MenuSense::DESSERT);
        }
    }
    courses
}

fn is_main_course(words: &[String]) -> bool {
    let is_named_main = |pair: &[String]| pair[0] == "main" && sense(&pair[1]).is(MenuSense::OF_MAIN);
    has_sense(words, MenuSense::MAIN) || words.windows(2).any(is_named_main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_courses_are_needed() {
        let check = |names: &[&str], expected: bool| {
            assert_eq!(has_several(names.iter().copied()), expected, "{names:?}");
        };
        check(&["Starters", "Mains"], true);
        check(&["Our starters", "Main courses", "Extras"], true);
        check(&["Vorspeisen", "Dessert"], true);
        check(&["Antipasti", "Primi", "Secondi"], true);
        check(&["Primi", "Secondi"], false);
        check(&["Starters"], false);
        check(&["Starter", "Professional"], false);
        check(&["Main", "Dessert"], false);
        check(&["Starters of cars and trucks with warranty", "Mains"], false);
    }
}
