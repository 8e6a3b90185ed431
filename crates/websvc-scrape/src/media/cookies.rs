//! Cookies for yt-dlp, in the format of Netscape's file.

use url::Url;

/// The first line, without which the file is refused.
const HEADER: &str = "# Netscape HTTP Cookie File\n";
/// The maximum number of cookies.
const MAX_COOKIES: usize = 500;
/// The maximum size of the file.
const MAX_BYTES: usize = 256 * 1024;

/// A cookie that the medium may be requested with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// The host, or with a leading dot the domain with all its subdomains.
    pub domain: String,
    /// The path prefix.
    pub path: String,
    /// It is sent over https only.
    pub is_secure: bool,
}

impl Cookie {
    /// Returns the cookies of a header `Cookie`, for the host of this URL and for its scheme or a safer one.
    #[must_use]
    pub fn of_header(header: &str, url: &Url) -> Vec<Self> {
        let host = url.host_str().unwrap_or_default();
        let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
        let cookie = |(name, value): (&str, &str)| Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host.to_owned(),
            path: "/".to_owned(),
            is_secure: url.scheme() == "https",
        };
        pairs.map(cookie).collect()
    }
}

/// Returns the file; `None` if there is no cookie. A cookie with characters that would begin another field is left out.
pub(crate) fn file(cookies: &[Cookie]) -> Option<String> {
    let mut text = HEADER.to_owned();
    for Cookie { name, value, domain, path, is_secure } in cookies.iter().take(MAX_COOKIES) {
        let fields = [domain, path, name, value];
        let is_clean = fields.iter().all(|field| !field.contains(|c: char| c.is_control()));
        if !is_clean || name.is_empty() || domain.is_empty() {
            continue;
        }
        let subdomains = if domain.starts_with('.') { "TRUE" } else { "FALSE" };
        let secure = if *is_secure { "TRUE" } else { "FALSE" };
        // Zero is the expiry of a cookie of this session.
        let line = format!("{domain}\t{subdomains}\t{path}\t{secure}\t0\t{name}\t{value}\n");
        if text.len() + line.len() > MAX_BYTES {
            break;
        }
        text.push_str(&line);
    }
    (text.len() > HEADER.len()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_a_line_for_each_cookie() {
        let url: Url = "https://tea.test/a".parse().unwrap();
        let mut cookies = Cookie::of_header("a=1; b=x=y ;c; =d; e=1\t2", &url);
        cookies.push(Cookie {
            name: "s".into(),
            value: "v".into(),
            domain: ".tea.test".into(),
            path: "/p".into(),
            is_secure: false,
        });
        assert_eq!(
            file(&cookies).unwrap(),
            "# Netscape HTTP Cookie File\ntea.test\tFALSE\t/\tTRUE\t0\ta\t1\n\
             tea.test\tFALSE\t/\tTRUE\t0\tb\tx=y\n.tea.test\tTRUE\t/p\tFALSE\t0\ts\tv\n"
        );
        assert_eq!(file(&[]), None);
    }
}
