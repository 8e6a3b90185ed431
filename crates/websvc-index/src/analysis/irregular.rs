//! Irregular plurals of English, which a stemmer does not reduce to their singular.
//!
//! A query is searched with both numbers, so that the stems of stored pages need not change. Words that are also forms
//! of another word are left out: `bases`, `axes`, `leaves`, `lives`, `dice`, `media`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Groups of words with the same meaning: singular and plurals.
const GROUPS: &str = "\
    man men, woman women, child children, foot feet, tooth teeth, goose geese, mouse mice, louse lice, ox oxen, \
    person people, wife wives, knife knives, half halves, wolf wolves, thief thieves, calf calves, \
    loaf loaves, scarf scarves, elf elves, hoof hooves, self selves, penny pence, dwarf dwarves, \
    analysis analyses, crisis crises, thesis theses, hypothesis hypotheses, synthesis syntheses, \
    diagnosis diagnoses, prognosis prognoses, parenthesis parentheses, neurosis neuroses, psychosis psychoses, \
    emphasis emphases, oasis oases, synopsis synopses, metamorphosis metamorphoses, catalysis catalyses, \
    antithesis antitheses, prosthesis prostheses, metastasis metastases, thrombosis thromboses, \
    criterion criteria, phenomenon phenomena, automaton automata, ganglion ganglia, mitochondrion mitochondria, \
    bacterium bacteria, spectrum spectra, stratum strata, erratum errata, addendum addenda, curriculum curricula, \
    memorandum memoranda, symposium symposia, millennium millennia, quantum quanta, ovum ova, forum fora, \
    aquarium aquaria, consortium consortia, equilibrium equilibria, honorarium honoraria, \
    index indices, matrix matrices, vertex vertices, appendix appendices, vortex vortices, cortex cortices, \
    apex apices, codex codices, helix helices, \
    nucleus nuclei, radius radii, focus foci, stimulus stimuli, fungus fungi, cactus cacti, alumnus alumni, \
    syllabus syllabi, locus loci, bacillus bacilli, terminus termini, nucleolus nucleoli, thesaurus thesauri, \
    formula formulae, larva larvae, antenna antennae, alga algae, vertebra vertebrae, nebula nebulae, \
    corpus corpora, genus genera, schema schemata, stigma stigmata, carcinoma carcinomata, beau beaux, \
    bureau bureaux, chateau chateaux, plateau plateaux";

/// The group of each word.
static GROUP_OF: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = GROUPS.split(',').map(str::trim);
    groups.flat_map(|group| group.split(' ').map(move |word| (word, group))).collect()
});

/// Returns the plural of a singular, or the singular of a plural, if it is irregular. `folded` is an English word.
pub(crate) fn other_numbers(folded: &str) -> Vec<&'static str> {
    let group = GROUP_OF.get(folded).copied().unwrap_or_default();
    group.split(' ').filter(|&word| word != folded && !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_plurals_have_their_singular_and_the_reverse() {
        assert_eq!(other_numbers("mice"), ["mouse"]);
        assert_eq!(other_numbers("child"), ["children"]);
        assert_eq!(other_numbers("analyses"), ["analysis"]);
        assert_eq!(other_numbers("plateau"), ["plateaux"]);
        assert!(other_numbers("house").is_empty() && other_numbers("").is_empty());
    }

    #[test]
    fn each_word_is_in_one_group() {
        let words = GROUPS.split([',', ' ']).filter(|word| !word.is_empty()).count();
        assert_eq!(GROUP_OF.len(), words);
    }
}
