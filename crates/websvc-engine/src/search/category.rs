//! Categories: which pages they mean, and which one a result belongs to.

use websvc_query::Query;
use websvc_types::Category;

/// The hosts of the category `research`.
const RESEARCH_HOSTS: &[&str] = &[
    "arxiv.org",
    "scholar.google.com",
    "pubmed.ncbi.nlm.nih.gov",
    "researchgate.net",
    "nature.com",
    "science.org",
    "ieee.org",
    "acm.org",
    "springer.com",
    "wiley.com",
    "sciencedirect.com",
    "plos.org",
    "biorxiv.org",
    "medrxiv.org",
];

const GITHUB_HOST: &str = "github.com";

/// Returns the query that keeps pages of any of `categories`; empty when there are none.
pub(crate) fn restriction(categories: &[Category]) -> Query {
    let mut alternatives = Vec::new();
    for category in categories {
        match category {
            Category::Github => alternatives.push(format!("site:{GITHUB_HOST}")),
            Category::Research => {
                alternatives.extend(RESEARCH_HOSTS.iter().map(|host| format!("site:{host}")));
            }
            Category::Pdf => alternatives.push("filetype:pdf".to_owned()),
        }
    }
    websvc_query::parse(&alternatives.join(" OR ")).query
}

/// Returns the category of `url` among those asked for.
///
/// The restriction has let the result through: what its URL puts into no other category that was asked for is a PDF by
/// its content type, when those were asked for.
pub(crate) fn label(url: &str, categories: &[Category]) -> Option<Category> {
    if categories.is_empty() {
        return None;
    }
    let url = url::Url::parse(url).ok()?;
    let host = url.host_str()?;
    let belongs = |category: &Category| match category {
        Category::Pdf => url.path().to_ascii_lowercase().ends_with(".pdf"),
        Category::Github => is_or_below(host, GITHUB_HOST),
        Category::Research => RESEARCH_HOSTS.iter().any(|known| is_or_below(host, known)),
    };
    [Category::Pdf, Category::Github, Category::Research]
        .into_iter()
        .find(|category| categories.contains(category) && belongs(category))
        .or_else(|| categories.contains(&Category::Pdf).then_some(Category::Pdf))
}

fn is_or_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Category] = &[Category::Github, Category::Research, Category::Pdf];

    #[test]
    fn a_result_is_labelled_by_what_was_asked_for() {
        assert_eq!(label("https://github.com/a/b", ALL), Some(Category::Github));
        assert_eq!(label("https://export.arxiv.org/abs/1", ALL), Some(Category::Research));
        assert_eq!(label("https://arxiv.org/pdf/1.PDF", ALL), Some(Category::Pdf));
        assert_eq!(label("https://github.com/a/b", &[]), None);
        assert_eq!(label("https://notgithub.com/", &[Category::Github]), None);
    }

    #[test]
    fn what_only_its_type_makes_a_pdf_is_one() {
        assert_eq!(label("https://a.test/download?id=7", ALL), Some(Category::Pdf));
        assert_eq!(label("https://github.com/a/b", &[Category::Pdf]), Some(Category::Pdf));
        assert_eq!(label("https://arxiv.org/pdf/1", ALL), Some(Category::Research));
    }

    #[test]
    fn categories_are_alternatives() {
        let query = restriction(&[Category::Github, Category::Pdf]);
        assert_eq!(query.to_string(), "site:github.com OR filetype:pdf");
    }

    #[test]
    fn no_category_restricts_nothing() {
        assert!(restriction(&[]).is_empty());
    }
}
