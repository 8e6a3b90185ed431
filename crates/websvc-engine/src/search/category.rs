//! Result categories: the restriction that they add to a query, and the category of a result.

use websvc_query::Query;
use websvc_types::Category;

use crate::domain::is_in_domain;

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
    "doi.org",
    "ncbi.nlm.nih.gov",
    "europepmc.org",
    "semanticscholar.org",
    "openalex.org",
    "openreview.net",
    "aclanthology.org",
    "pnas.org",
    "cell.com",
    "jstor.org",
    "ssrn.com",
];

const GITHUB_HOST: &str = "github.com";

/// Returns the query that selects pages of any of `categories`; empty if there are none.
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

/// Returns the category of `url` among the requested ones.
///
/// The result matches the restriction. So if PDFs are requested and its URL fits no other requested category, it is a
/// PDF by its content type.
pub(crate) fn label(url: &str, categories: &[Category]) -> Option<Category> {
    if categories.is_empty() {
        return None;
    }
    let url = url::Url::parse(url).ok()?;
    let host = url.host_str()?;
    let fits = |category: &Category| match category {
        Category::Pdf => url.path().to_ascii_lowercase().ends_with(".pdf"),
        Category::Github => is_in_domain(host, GITHUB_HOST),
        Category::Research => RESEARCH_HOSTS.iter().any(|domain| is_in_domain(host, domain)),
    };
    [Category::Pdf, Category::Github, Category::Research]
        .into_iter()
        .find(|category| categories.contains(category) && fits(category))
        .or_else(|| categories.contains(&Category::Pdf).then_some(Category::Pdf))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Category] = &[Category::Github, Category::Research, Category::Pdf];

    #[test]
    fn label_is_one_of_the_requested_categories() {
        assert_eq!(label("https://github.com/a/b", ALL), Some(Category::Github));
        assert_eq!(label("https://export.arxiv.org/abs/1", ALL), Some(Category::Research));
        assert_eq!(label("https://arxiv.org/pdf/1.PDF", ALL), Some(Category::Pdf));
        assert_eq!(label("https://github.com/a/b", &[]), None);
        assert_eq!(label("https://notgithub.com/", &[Category::Github]), None);
    }

    #[test]
    fn result_without_pdf_extension_is_labelled_pdf_by_its_content_type() {
        assert_eq!(label("https://a.test/download?id=7", ALL), Some(Category::Pdf));
        assert_eq!(label("https://github.com/a/b", &[Category::Pdf]), Some(Category::Pdf));
        assert_eq!(label("https://arxiv.org/pdf/1", ALL), Some(Category::Research));
    }

    #[test]
    fn restriction_of_several_categories_is_an_or() {
        let query = restriction(&[Category::Github, Category::Pdf]);
        assert_eq!(query.to_string(), "site:github.com OR filetype:pdf");
    }

    #[test]
    fn restriction_without_categories_is_empty() {
        assert!(restriction(&[]).is_empty());
    }
}
