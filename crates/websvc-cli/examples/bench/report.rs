//! The table of results.

use crate::load::Load;

/// The rows measured so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    value: f64,
    text: String,
    goal: String,
}

impl Report {
    /// Adds the rate and the response times of a load.
    pub(crate) fn load(&mut self, name: &str, load: &Load) {
        let ms = |percent| load.percentile(percent).as_secs_f64() * 1e3;
        let text = format!("{:.0}/s, p50 {:.2} ms, p99 {:.2} ms", load.rate(), ms(50), ms(99));
        self.push(name, load.rate(), text, "");
    }

    /// Adds a number with its unit.
    pub(crate) fn number(&mut self, name: &str, value: f64, unit: &str, goal: &str) {
        self.push(name, value, format!("{value:.2} {unit}"), goal);
    }

    /// Adds a value with its own text.
    pub(crate) fn text(&mut self, name: &str, value: f64, text: String) {
        self.push(name, value, text, "");
    }

    /// Adds a value with its own text and a goal.
    pub(crate) fn text_with_goal(&mut self, name: &str, value: f64, text: String, goal: &str) {
        self.push(name, value, text, goal);
    }

    /// Adds a ratio of two rows.
    pub(crate) fn ratio(&mut self, name: &str, value: f64, goal: &str) {
        self.push(name, value, format!("{value:.2}"), goal);
    }

    /// Returns the value of a row.
    pub(crate) fn rate_of(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.name == name).map(|row| row.value)
    }

    /// Prints the rows as a Markdown table.
    pub(crate) fn print(&self) {
        println!("\n| measurement | result | goal |\n|---|---|---|");
        for Row { name, text, goal, .. } in &self.rows {
            println!("| {name} | {text} | {goal} |");
        }
    }

    fn push(&mut self, name: &str, value: f64, text: String, goal: &str) {
        println!("{name}: {text}");
        self.rows.push(Row { name: name.to_owned(), value, text, goal: goal.to_owned() });
    }
}
