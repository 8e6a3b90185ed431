//! How large a schema is when its references are followed: what whoever applies it to a value has to do.
//!
//! References that lead to the same part several times multiply, each step again: a few lines are as much work as one likes. What a
//! reference leads back to (recursion) is applied to smaller and smaller values, once to each list and each object, so that it counts
//! once; only where it comes back to the same value, or to one that is neither, its own part counts again.

use serde_json::{Map, Value};
use websvc_types::limits::{
    SCHEMA_FOLLOWED_LEVELS_MAX, SCHEMA_PARTS_MAX, SCHEMA_PATTERNS_MAX, SCHEMA_REFERENCED_MAX,
};

use super::part::{Part, Reference, collect};

/// Size limit that a schema exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeLimit {
    /// Parts, counted as often as references lead to them.
    Parts,
    /// Levels, with references followed.
    Levels,
    /// Parts that are pointed to.
    Referenced,
    /// Different regular expressions.
    Patterns,
}

impl SizeLimit {
    /// Returns the rule that it breaks.
    pub(super) fn rule(self) -> String {
        match self {
            Self::Parts => {
                format!(
                    "must have at most {SCHEMA_PARTS_MAX} parts, counted as often as references lead to them"
                )
            }
            Self::Levels => {
                format!("must have at most {SCHEMA_FOLLOWED_LEVELS_MAX} levels with its references followed")
            }
            Self::Referenced => {
                format!("must have at most {SCHEMA_REFERENCED_MAX} parts that references point to")
            }
            Self::Patterns => {
                format!("must have at most {SCHEMA_PATTERNS_MAX} different regular expressions")
            }
        }
    }
}

/// Returns how many parts a schema has, counted as often as references lead to them.
///
/// # Errors
/// What it has too much of.
pub(super) fn parts_of(root: &Map<String, Value>) -> Result<u64, SizeLimit> {
    let parts = collect(root)?;
    let reach = RefClosure::of(&parts);
    let levels = Levels { parts: &parts, reach: &reach, known: vec![None; parts.len()] }.of(0);
    if levels > SCHEMA_FOLLOWED_LEVELS_MAX {
        return Err(SizeLimit::Levels);
    }
    let scalar = CostSum::new(&parts, &reach, AppliesTo::Scalar).all()?;
    let mut weighing = CostSum::new(&parts, &reach, AppliesTo::Any(scalar));
    weighing.entered(0)
}

/// Which part leads to which, over any number of references.
struct RefClosure {
    /// A row of bits for each part.
    rows: Vec<Vec<u64>>,
}

impl RefClosure {
    fn of(parts: &[Part]) -> Self {
        let mut rows = vec![vec![0_u64; parts.len().div_ceil(64)]; parts.len()];
        for (row, part) in rows.iter_mut().zip(parts) {
            for reference in &part.references {
                row[reference.to / 64] |= 1 << (reference.to % 64);
            }
        }
        for middle in 0..rows.len() {
            let beyond = rows[middle].clone();
            for row in rows.iter_mut().filter(|row| row[middle / 64] >> (middle % 64) & 1 == 1) {
                row.iter_mut().zip(&beyond).for_each(|(bits, more)| *bits |= more);
            }
        }
        Self { rows }
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }

    /// Tells whether two parts lead to each other.
    fn are_one(&self, one: usize, other: usize) -> bool {
        one == other || (self.leads(one, other) && self.leads(other, one))
    }

    /// Returns the parts that lead to a part and back.
    fn circle(&self, part: usize) -> Vec<usize> {
        (0..self.rows.len()).filter(|other| self.are_one(part, *other)).collect()
    }
}

/// How deep parts are nested, with references followed; those of a circle one in the other.
struct Levels<'p> {
    parts: &'p [Part],
    reach: &'p RefClosure,
    known: Vec<Option<u64>>,
}

impl Levels<'_> {
    fn of(&mut self, part: usize) -> u64 {
        if let Some(levels) = self.known[part] {
            return levels;
        }
        let circle = self.reach.circle(part);
        let (mut own, mut beyond) = (0, 0);
        for member in &circle {
            own += self.parts[*member].levels;
            for reference in &self.parts[*member].references {
                if !self.reach.are_one(part, reference.to) {
                    beyond = beyond.max(self.of(reference.to));
                }
            }
        }
        circle.into_iter().for_each(|member| self.known[member] = Some(own + beyond));
        own + beyond
    }
}

/// Values that a keyword applies to.
enum AppliesTo {
    /// The keyword applies to the value itself, which is neither a list nor an object.
    Scalar,
    /// All, with what each part is for such a value.
    Any(Vec<u64>),
}

/// The sum of the parts that are applied when one is.
struct CostSum<'p> {
    parts: &'p [Part],
    reach: &'p RefClosure,
    way: AppliesTo,
    known: Vec<Option<u64>>,
    /// Cost of entering the cycle of a part.
    circles: Vec<Option<u64>>,
    /// References followed so far for the same value.
    path: Vec<usize>,
    /// The place in the path of the first part that was come back to.
    cut: usize,
    steps: u64,
}

impl<'p> CostSum<'p> {
    fn new(parts: &'p [Part], reach: &'p RefClosure, way: AppliesTo) -> Self {
        let (known, circles) = (vec![None; parts.len()], vec![None; parts.len()]);
        Self { parts, reach, way, known, circles, path: Vec::new(), cut: usize::MAX, steps: 0 }
    }

    /// Weighs every part.
    fn all(mut self) -> Result<Vec<u64>, SizeLimit> {
        (0..self.parts.len()).map(|part| self.weight(part)).collect()
    }

    /// Returns what it is to be led into a circle of parts: each of them.
    fn entered(&mut self, part: usize) -> Result<u64, SizeLimit> {
        if let Some(known) = self.circles[part] {
            return Ok(known);
        }
        let mut sum = 0;
        // Another circle is another way; nothing of it leads back to where one is.
        let (path, cut) = (std::mem::take(&mut self.path), std::mem::replace(&mut self.cut, usize::MAX));
        for member in self.reach.circle(part) {
            sum = within(sum + self.weight(member)?)?;
        }
        (self.path, self.cut) = (path, cut);
        self.circles[part] = Some(sum);
        Ok(sum)
    }

    fn step(&self, from: usize, reference: Reference) -> Step {
        let Reference { to, times: _, is_of_same_value } = reference;
        match &self.way {
            AppliesTo::Scalar if is_of_same_value => Step::Weight,
            AppliesTo::Scalar => Step::None,
            AppliesTo::Any(_) if !self.reach.are_one(from, to) => Step::Enter,
            AppliesTo::Any(_) if is_of_same_value => Step::Weight,
            AppliesTo::Any(scalar) => Step::Known(scalar[to]),
        }
    }

    fn weight(&mut self, part: usize) -> Result<u64, SizeLimit> {
        if let Some(known) = self.known[part] {
            return Ok(known);
        }
        if let Some(place) = self.path.iter().position(|passed| *passed == part) {
            self.cut = self.cut.min(place);
            return Ok(1);
        }
        self.steps = within(self.steps + 1)?;
        let place = self.path.len();
        self.path.push(part);
        let parts = self.parts;
        let mut sum = match &self.way {
            AppliesTo::Scalar => parts[part].parts_of_same_value,
            AppliesTo::Any(_) => parts[part].parts,
        };
        for reference in &parts[part].references {
            let weight = match self.step(part, *reference) {
                Step::None => 0,
                Step::Weight => self.weight(reference.to)?,
                Step::Enter => self.entered(reference.to)?,
                Step::Known(weight) => weight,
            };
            sum = within(sum.saturating_add(weight.saturating_mul(reference.times)))?;
        }
        self.path.pop();
        // What was cut off above here depends on the way.
        if self.cut >= place {
            self.cut = usize::MAX;
            self.known[part] = Some(sum);
        }
        Ok(sum)
    }
}

/// Kind of a reference.
enum Step {
    None,
    Weight,
    Enter,
    Known(u64),
}

fn within(parts: u64) -> Result<u64, SizeLimit> {
    if parts <= SCHEMA_PARTS_MAX { Ok(parts) } else { Err(SizeLimit::Parts) }
}
