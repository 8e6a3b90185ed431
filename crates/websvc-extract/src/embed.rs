//! Embedded videos and sounds, with the address that a reader can open.

use crate::dom::{Dom, NodeId, Tag};

/// Hosts of video players, with the path before the ID of a video, and the prefix of the URL of its page.
const PLAYERS: [(&str, &str, &str); 6] = [
    ("www.youtube.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("www.youtube-nocookie.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("youtube.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("player.vimeo.com", "/video/", "https://vimeo.com/"),
    ("www.dailymotion.com", "/embed/video/", "https://www.dailymotion.com/video/"),
    ("player.bilibili.com", "/player.html", ""),
];

/// Returns the address of an embedded video, sound or player: as written, or that of the video's page. `None` for other
/// elements.
pub(crate) fn address(dom: &Dom, id: NodeId) -> Option<String> {
    match dom.tag(id)? {
        Tag::Iframe => {
            let source = ["src", "data-src", "data-lazy-src"].iter().find_map(|name| {
                dom.attribute(id, name).map(str::trim).filter(|source| source.contains("//"))
            })?;
            player(source)
        }
        Tag::Video | Tag::Audio => {
            let src = dom.attribute(id, "src");
            let source = || {
                let inner = dom.children(id).take(20).find(|&child| dom.is(child, Tag::Source))?;
                dom.attribute(inner, "src")
            };
            let source = src.or_else(source)?.trim();
            let is_link = !source.is_empty() && !source.starts_with("blob:") && !source.starts_with("data:");
            is_link.then(|| source.to_owned())
        }
        _ => None,
    }
}

fn player(source: &str) -> Option<String> {
    let rest = source.split_once("//")?.1;
    let (host, path) = rest.split_at(rest.find('/')?);
    let (_, prefix, page) = PLAYERS.iter().find(|(player, ..)| host.eq_ignore_ascii_case(player))?;
    let name = path.strip_prefix(prefix)?;
    let name = name.split(['?', '#', '/', '&']).next().unwrap_or_default();
    Some(if page.is_empty() || name.is_empty() || name == "videoseries" {
        format!("https://{rest}")
    } else {
        format!("{page}{name}")
    })
}
