//! The searchable parts of URLs: sites, words and extensions.

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// The parts of a document's URL that are searched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Terms of the field `site`.
    pub(crate) sites: Vec<String>,
    /// The URL as readable text.
    pub(crate) text: String,
    /// The part of [`Address::text`] that describes the page: without `www.`, top-level domain and extension.
    pub(crate) topic: String,
    /// The file extension of the path in lower case.
    pub(crate) extension: Option<String>,
}

/// Maximum depth of directories that `site:` can distinguish.
const MAX_PATH_TERMS: usize = 12;

impl Address {
    /// Parses `url`; `None` if it is not an absolute URL with a host. The URLs of files need no host.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let parsed = Url::parse(url).ok()?;
        let host = match parsed.host() {
            Some(host) => host,
            None if parsed.scheme() == "file" => Host::Domain(""),
            None => return None,
        };
        let mut sites = site_terms(&host);
        if let Some(port) = parsed.port() {
            sites.push(port_term(port));
        }
        sites.extend(path_terms(parsed.path()));
        let path = decoded(parsed.path());
        let query = decoded(parsed.query().unwrap_or_default());
        let extension = extension_of(&path);
        let stem =
            extension.as_ref().map_or(path.as_str(), |extension| &path[..path.len() - extension.len() - 1]);
        let domain = match &host {
            Host::Domain(domain) => {
                domain.rsplit_once('.').map_or(*domain, |(name, _)| name).replace("www.", "")
            }
            Host::Ipv4(_) | Host::Ipv6(_) => String::new(),
        };
        Some(Self {
            sites,
            text: format!("{} {path} {query}", host_text(&host)),
            topic: format!("{domain} {} {query}", stem.strip_suffix("/index").unwrap_or(stem)),
            extension,
        })
    }
}

/// Returns the term that all pages of a host and its subdomains have; `None` if `host` is not a host name.
pub(crate) fn site_term(host: &str) -> Option<String> {
    match Host::parse(host.trim_end_matches('.')).ok()? {
        Host::Domain(domain) => Some(domain),
        address @ (Host::Ipv4(_) | Host::Ipv6(_)) => Some(address.to_string()),
    }
}

pub(crate) fn port_term(port: u16) -> String {
    format!(":{port}")
}

/// Returns the term that all pages at or below `path` have.
pub(crate) fn path_term(path: &str) -> String {
    // Normalized in the same way as the URLs of documents.
    let url = Url::parse(&format!("http://host/{}", path.trim_start_matches('/')));
    let path = url.map_or_else(|_| path.to_owned(), |url| url.path().to_owned());
    path.trim_end_matches('/').to_owned()
}

fn host_text(host: &Host<&str>) -> String {
    match host {
        Host::Domain(domain) => (*domain).to_owned(),
        Host::Ipv4(_) | Host::Ipv6(_) => host.to_string(),
    }
}

fn site_terms(host: &Host<&str>) -> Vec<String> {
    match host {
        Host::Domain(domain) => host_terms(domain),
        Host::Ipv4(_) | Host::Ipv6(_) => vec![host.to_string()],
    }
}

/// Returns a host name with its parent domains.
pub(crate) fn host_terms(domain: &str) -> Vec<String> {
    let domain = domain.trim_end_matches('.');
    let parents = domain.match_indices('.').map(|(dot, _)| domain[dot + 1..].to_owned());
    std::iter::once(domain.to_owned()).chain(parents).filter(|host| !host.is_empty()).collect()
}

/// Returns every prefix of `path` that ends before a slash, the whole path, and the path without extension.
fn path_terms(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let mut terms: Vec<String> =
        path.match_indices('/').skip(1).map(|(slash, _)| path[..slash].to_owned()).collect();
    terms.truncate(MAX_PATH_TERMS);
    if !path.is_empty() {
        terms.push(path.to_owned());
        terms.extend(extension_of(path).map(|extension| path[..path.len() - extension.len() - 1].to_owned()));
    }
    terms
}

/// Returns the extension of the last segment: one to six ASCII letters or digits with at least one letter.
fn extension_of(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let is_extension = !stem.is_empty()
        && (1..=6).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    is_extension.then(|| extension.to_ascii_lowercase())
}

/// Returns the usual extension of a media type, as typed after `filetype:`.
pub(crate) fn extension_of_type(content_type: &str) -> Option<&'static str> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "text/html" | "application/xhtml+xml" => "html",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "application/json" => "json",
        "application/xml" | "text/xml" => "xml",
        "text/csv" => "csv",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/vnd.ms-powerpoint" => "ppt",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        "application/rtf" | "text/rtf" => "rtf",
        "application/epub+zip" => "epub",
        "message/rfc822" => "eml",
        "application/vnd.ms-outlook" => "msg",
        "application/x-ipynb+json" => "ipynb",
        _ => return None,
    })
}

/// Decodes percent-encoding; bytes that are not UTF-8 become replacement characters.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns the last segment of the path. The directories of images describe the site and not the image.
pub(crate) fn file_name(topic: &str) -> &str {
    let path = topic.trim_end();
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{Address, path_term, site_term};

    #[test]
    fn url_has_sites_of_host_parent_domains_and_directories() {
        let address =
            Address::parse("https://docs.python.org/3/library/asyncio-task.html?x=%C3%A9").expect("valid");
        assert_eq!(
            address.sites,
            [
                "docs.python.org",
                "python.org",
                "org",
                "/3",
                "/3/library",
                "/3/library/asyncio-task.html",
                "/3/library/asyncio-task"
            ]
        );
        assert_eq!(address.topic, "docs.python /3/library/asyncio-task x=é");
        assert_eq!(address.extension.as_deref(), Some("html"));
    }

    #[test]
    fn ports_and_ip_addresses_are_sites() {
        let address = Address::parse("http://127.0.0.1:8080/").expect("valid");
        assert_eq!(address.sites, ["127.0.0.1", ":8080"]);
        assert_eq!(Address::parse("mailto:a@b.c"), None);
        assert_eq!(site_term("Bücher.Example.").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(path_term("/a b/"), "/a%20b");
    }

    #[test]
    fn version_numbers_are_not_extensions() {
        assert_eq!(Address::parse("https://a.org/v/3.11").expect("valid").extension, None);
    }
}
