//! Size of a schema with its references followed: the cost of applying it to a value.
//!
//! References to the same part multiply at each step, so that a few lines can cost any amount of work. Recursion
//! applies a part to smaller and smaller values, once per list and object, so it counts once. If it returns to the same
//! value, or to one that is neither a list nor an object, the cost of the part itself counts again.

use serde_json::{Map, Value};
use websvc_types::limits::{SCHEMA_FOLLOWED_LEVELS_MAX, SCHEMA_PARTS_MAX};

use super::part::{Part, Reference, SizeLimit, collect};

/// Returns the number of parts of a schema. A part counts once per reference to it.
///
/// # Errors
/// The size limit that the schema exceeds.
pub(super) fn parts_of(root: &Map<String, Value>) -> Result<u64, SizeLimit> {
    let parts = collect(root)?;
    let closure = RefClosure::new(&parts);
    let levels = Levels { parts: &parts, closure: &closure, cache: vec![None; parts.len()] }.levels(0);
    if levels > SCHEMA_FOLLOWED_LEVELS_MAX {
        return Err(SizeLimit::Levels);
    }
    let scalar_costs = CostSum::new(&parts, &closure, AppliesTo::Scalar).all()?;
    CostSum::new(&parts, &closure, AppliesTo::Any(scalar_costs)).cycle_cost(0)
}

/// Transitive closure of the references between parts.
struct RefClosure {
    /// One row of bits per part: bit `n` is set if part `n` is reachable.
    rows: Vec<Vec<u64>>,
}

impl RefClosure {
    fn new(parts: &[Part]) -> Self {
        let mut rows = vec![vec![0_u64; parts.len().div_ceil(64)]; parts.len()];
        for (row, part) in rows.iter_mut().zip(parts) {
            for reference in &part.references {
                row[reference.to / 64] |= 1 << (reference.to % 64);
            }
        }
        for middle in 0..rows.len() {
            let reachable = rows[middle].clone();
            for row in rows.iter_mut().filter(|row| row[middle / 64] >> (middle % 64) & 1 == 1) {
                row.iter_mut().zip(&reachable).for_each(|(bits, more)| *bits |= more);
            }
        }
        Self { rows }
    }

    /// Returns whether `to` is reachable from `from`.
    fn reaches(&self, from: usize, to: usize) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }

    /// Returns whether two parts are in the same cycle of references. A part is in its own cycle.
    fn share_cycle(&self, a: usize, b: usize) -> bool {
        a == b || (self.reaches(a, b) && self.reaches(b, a))
    }

    /// Returns the parts in the cycle of a part, including itself.
    fn cycle(&self, part: usize) -> Vec<usize> {
        (0..self.rows.len()).filter(|other| self.share_cycle(part, *other)).collect()
    }
}

/// Nesting of parts with references followed. The parts of a cycle count as nested in each other.
struct Levels<'p> {
    parts: &'p [Part],
    closure: &'p RefClosure,
    /// Results by part.
    cache: Vec<Option<u64>>,
}

impl Levels<'_> {
    fn levels(&mut self, part: usize) -> u64 {
        if let Some(levels) = self.cache[part] {
            return levels;
        }
        let cycle = self.closure.cycle(part);
        let (mut cycle_levels, mut levels_below) = (0, 0);
        for member in &cycle {
            cycle_levels += self.parts[*member].levels;
            for reference in &self.parts[*member].references {
                if !self.closure.share_cycle(part, reference.to) {
                    levels_below = levels_below.max(self.levels(reference.to));
                }
            }
        }
        let levels = cycle_levels + levels_below;
        cycle.into_iter().for_each(|member| self.cache[member] = Some(levels));
        levels
    }
}

/// Values for which the cost is computed.
enum AppliesTo {
    /// Values that are neither lists nor objects.
    Scalar,
    /// All values, with the cost of each part for scalars.
    Any(Vec<u64>),
}

/// Computation of the cost of a part: the number of parts that are applied with it.
struct CostSum<'p> {
    parts: &'p [Part],
    closure: &'p RefClosure,
    applies_to: AppliesTo,
    /// Costs by part.
    cache: Vec<Option<u64>>,
    /// Costs of entering the cycle of a part.
    cycle_cache: Vec<Option<u64>>,
    /// Parts that are applied to the same value, from the first to the current one.
    path: Vec<usize>,
    /// Lowest index in `path` of a part that recursion returned to; `usize::MAX` without recursion.
    recursion_start: usize,
    /// Number of parts visited so far.
    steps: u64,
}

impl<'p> CostSum<'p> {
    fn new(parts: &'p [Part], closure: &'p RefClosure, applies_to: AppliesTo) -> Self {
        Self {
            parts,
            closure,
            applies_to,
            cache: vec![None; parts.len()],
            cycle_cache: vec![None; parts.len()],
            path: Vec::new(),
            recursion_start: usize::MAX,
            steps: 0,
        }
    }

    /// Returns the cost of every part.
    fn all(mut self) -> Result<Vec<u64>, SizeLimit> {
        (0..self.parts.len()).map(|part| self.cost(part)).collect()
    }

    /// Returns the cost of entering the cycle of a part: the sum of the costs of its parts.
    fn cycle_cost(&mut self, part: usize) -> Result<u64, SizeLimit> {
        if let Some(cost) = self.cycle_cache[part] {
            return Ok(cost);
        }
        let mut sum = 0;
        // No part of another cycle leads back to the current path, so that cycle starts with an empty path.
        let path = std::mem::take(&mut self.path);
        let recursion_start = std::mem::replace(&mut self.recursion_start, usize::MAX);
        for member in self.closure.cycle(part) {
            sum = limited(sum + self.cost(member)?)?;
        }
        (self.path, self.recursion_start) = (path, recursion_start);
        self.cycle_cache[part] = Some(sum);
        Ok(sum)
    }

    fn step(&self, from: usize, reference: Reference) -> Step {
        let Reference { to, times: _, is_of_same_value } = reference;
        match &self.applies_to {
            AppliesTo::Scalar if is_of_same_value => Step::Follow,
            AppliesTo::Scalar => Step::Skip,
            AppliesTo::Any(_) if !self.closure.share_cycle(from, to) => Step::EnterCycle,
            AppliesTo::Any(_) if is_of_same_value => Step::Follow,
            AppliesTo::Any(scalar_costs) => Step::Fixed(scalar_costs[to]),
        }
    }

    fn cost(&mut self, part: usize) -> Result<u64, SizeLimit> {
        if let Some(cost) = self.cache[part] {
            return Ok(cost);
        }
        if let Some(index) = self.path.iter().position(|visited| *visited == part) {
            self.recursion_start = self.recursion_start.min(index);
            return Ok(1);
        }
        self.steps = limited(self.steps + 1)?;
        let index = self.path.len();
        self.path.push(part);
        let parts = self.parts;
        let mut sum = match &self.applies_to {
            AppliesTo::Scalar => parts[part].parts_of_same_value,
            AppliesTo::Any(_) => parts[part].parts,
        };
        for reference in &parts[part].references {
            let cost = match self.step(part, *reference) {
                Step::Skip => 0,
                Step::Follow => self.cost(reference.to)?,
                Step::EnterCycle => self.cycle_cost(reference.to)?,
                Step::Fixed(cost) => cost,
            };
            sum = limited(sum.saturating_add(cost.saturating_mul(reference.times)))?;
        }
        self.path.pop();
        // If recursion returned to a part before this one, the cost depends on the path and is not cached.
        if self.recursion_start >= index {
            self.recursion_start = usize::MAX;
            self.cache[part] = Some(sum);
        }
        Ok(sum)
    }
}

/// Cost of a reference.
enum Step {
    /// No cost, because the reference does not apply to the value.
    Skip,
    /// Cost of the target for the same value.
    Follow,
    /// Cost of entering the cycle of the target.
    EnterCycle,
    /// Cost of the target for a scalar.
    Fixed(u64),
}

/// Checks the number of parts against its limit.
fn limited(parts: u64) -> Result<u64, SizeLimit> {
    if parts <= SCHEMA_PARTS_MAX { Ok(parts) } else { Err(SizeLimit::Parts) }
}
