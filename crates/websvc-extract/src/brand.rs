//! The brand as a page declares it in its structured data, meta tags and links, for the format `branding`
//! (operations.md, section 7.2).

use crate::document::Document;
use crate::dom::{Dom, NodeId, Tag};
use crate::limits::MAX_LABEL_BYTES;
use crate::links;
use crate::metadata;
use crate::structured::{Entity, Graph, Property};
use crate::text::{collapsed, start_of};

/// Types of entities whose logo is that of the site: organizations, sites, and kinds of LocalBusiness.
const SITE_TYPES: [&str; 44] = [
    "Organization",
    "Corporation",
    "OnlineBusiness",
    "OnlineStore",
    "NGO",
    "NewsMediaOrganization",
    "EducationalOrganization",
    "CollegeOrUniversity",
    "School",
    "GovernmentOrganization",
    "MedicalOrganization",
    "SportsOrganization",
    "SportsTeam",
    "PerformingGroup",
    "MusicGroup",
    "Airline",
    "Consortium",
    "LibrarySystem",
    "Project",
    "ResearchOrganization",
    "WebSite",
    "LocalBusiness",
    "ProfessionalService",
    "Restaurant",
    "CafeOrCoffeeShop",
    "BarOrPub",
    "Bakery",
    "FoodEstablishment",
    "Store",
    "ClothingStore",
    "BookStore",
    "ElectronicsStore",
    "GroceryStore",
    "Hotel",
    "LodgingBusiness",
    "Dentist",
    "MedicalBusiness",
    "MedicalClinic",
    "LegalService",
    "FinancialService",
    "RealEstateAgent",
    "AutoDealer",
    "HealthAndBeautyBusiness",
    "TravelAgency",
];

/// Types of entities whose publisher is the site.
const PAGE_TYPES: [&str; 8] =
    ["WebSite", "WebPage", "AboutPage", "CollectionPage", "Article", "NewsArticle", "BlogPosting", "Blog"];

/// Properties whose values are organizations other than the one of the site.
const RELATIONS: [&str; 14] = [
    "brand",
    "manufacturer",
    "itemReviewed",
    "review",
    "author",
    "seller",
    "sponsor",
    "funder",
    "member",
    "memberOf",
    "alumniOf",
    "worksFor",
    "hiringOrganization",
    "itemListElement",
];

/// Maximum number of scripts and style sheets whose URLs are returned.
const MAX_RESOURCES: usize = 200;

/// The brand as a page declares it. All URLs are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredBrand {
    /// The logo of the organization or site in the structured data.
    pub logo: Option<String>,
    /// The largest icon for home screens.
    pub touch_icon: Option<String>,
    /// The icon of the page.
    pub favicon: Option<String>,
    /// The image for links to the page: `og:image`, else `twitter:image`.
    pub og_image: Option<String>,
    /// The name of the site: `og:site_name`.
    pub site_name: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// The first heading of the highest level.
    pub heading: Option<String>,
    /// The program that created the page (`generator`).
    pub generator: Option<String>,
    /// The color of the browser around the page (`theme-color`).
    pub theme_color: Option<String>,
    /// The URLs of scripts and style sheets, as written.
    pub resources: Vec<String>,
}

/// Reads the declarations of a page.
pub(crate) fn read(document: &Document) -> DeclaredBrand {
    if !document.kind.is_html() {
        return DeclaredBrand::default();
    }
    let data = document.structured_data();
    let dom = &document.dom;
    let short = |text: &str| start_of(text, MAX_LABEL_BYTES).to_owned();
    let meta = |names: &[&str]| data.meta(names).map(short);
    let image = |url: &str| links::resolve_image(&document.base, url);
    DeclaredBrand {
        logo: [&data.json_ld, &data.microdata, &data.rdfa]
            .into_iter()
            .find_map(|graph| logo(graph, document)),
        touch_icon: touch_icon(document),
        favicon: metadata::icon(document),
        og_image: data
            .meta(&["og:image", "og:image:url", "og:image:secure_url"])
            .and_then(image)
            .or_else(|| data.meta(&["twitter:image", "twitter:image:src"]).and_then(image)),
        site_name: meta(&["og:site_name"]),
        title: metadata::head_title(dom).map(|title| short(&title)),
        heading: dom
            .first_element(Tag::H1)
            .map(|id| short(&metadata::text_of(dom, id)))
            .filter(|text| !text.is_empty()),
        generator: meta(&["generator"]),
        theme_color: meta(&["theme-color"]),
        resources: resources(dom),
    }
}

/// Returns the logo of a graph: of the organization whose URL is that of the site, else of the first one.
fn logo(graph: &Graph, document: &Document) -> Option<String> {
    // Entities that are not candidates: those of others, and those that were examined before.
    let mut excluded = graph.values_of(&RELATIONS);
    let of_pages =
        graph.roots().filter(|root| root.is(&PAGE_TYPES)).flat_map(|root| root.entities("publisher"));
    let candidates = graph.roots().chain(of_pages);
    let candidates = candidates.filter(|entity| entity.is(&SITE_TYPES) && excluded.insert(entity.id));
    let with_logo: Vec<(Entity<'_>, String)> =
        candidates.take(100).filter_map(|entity| Some((entity, logo_of(entity, document)?))).collect();
    let is_of_site = |entity: Entity<'_>| {
        let url = entity.text("url").and_then(|url| links::resolve(&document.base, url));
        url.is_some_and(|url| url.host_str() == document.url.host_str())
    };
    let chosen = with_logo.iter().find(|(entity, _)| is_of_site(*entity)).or_else(|| with_logo.first())?;
    Some(chosen.1.clone())
}

fn logo_of(entity: Entity<'_>, document: &Document) -> Option<String> {
    entity.values("logo").find_map(|value| match value {
        Property::Literal(literal) => links::resolve_image(&document.base, literal.as_str()),
        Property::Entity(image) => links::resolve_image(&document.base, image.file()?),
    })
}

/// Returns the largest icon for home screens. Those without a size are as large as Apple's default of 180 pixels.
fn touch_icon(document: &Document) -> Option<String> {
    let dom = &document.dom;
    let icons = dom.elements(Tag::Link).filter_map(|id| {
        let rel = dom.attribute(id, "rel")?.to_ascii_lowercase();
        let is_icon = rel.split_ascii_whitespace().any(|token| token.starts_with("apple-touch-icon"));
        let url = links::resolve_image(&document.base, dom.attribute(id, "href")?).filter(|_| is_icon)?;
        let size = dom.attribute(id, "sizes").and_then(|sizes| {
            sizes.to_ascii_lowercase().split(['x', ' ']).next().and_then(|width| width.parse::<u32>().ok())
        });
        Some((size.unwrap_or(180), url))
    });
    // The first one of the largest.
    let largest = icons.take(100).reduce(|best, next| if next.0 > best.0 { next } else { best });
    largest.map(|(_, url)| url)
}

fn resources(dom: &Dom) -> Vec<String> {
    let elements = dom.descendants(NodeId::ROOT);
    let urls = elements.filter_map(|id| match dom.tag(id)? {
        Tag::Script => dom.attribute(id, "src"),
        Tag::Link => dom.attribute(id, "href"),
        _ => None,
    });
    urls.map(|url| collapsed(start_of(url, MAX_LABEL_BYTES))).take(MAX_RESOURCES).collect()
}
