//! Videos and sounds that a page embeds: where a reader finds them.

use crate::dom::{Dom, NodeId, Tag};

/// Hosts of players, and the path before the name of a video in them.
const PLAYERS: [(&str, &str, &str); 6] = [
    ("www.youtube.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("www.youtube-nocookie.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("youtube.com", "/embed/", "https://www.youtube.com/watch?v="),
    ("player.vimeo.com", "/video/", "https://vimeo.com/"),
    ("www.dailymotion.com", "/embed/video/", "https://www.dailymotion.com/video/"),
    ("player.bilibili.com", "/player.html", ""),
];

/// Returns the address of what an element embeds, as written or as that of the page of the video; `None` for what is no
/// video, sound or frame of a player.
pub(crate) fn address(dom: &Dom, id: NodeId) -> Option<String> {
    match dom.tag(id)? {
        Tag::Iframe => {
            let source = ["src", "data-src", "data-lazy-src"].iter().find_map(|name| {
                dom.attribute(id, name).map(str::trim).filter(|source| source.contains("//"))
            })?;
            player(source)
        }
        Tag::Video | Tag::Audio => {
            let own = dom.attribute(id, "src");
            let source = || {
                let inner = dom.children(id).take(20).find(|&child| dom.is(child, Tag::Source))?;
                dom.attribute(inner, "src")
            };
            let source = own.or_else(source)?.trim();
            let kept = !source.is_empty() && !source.starts_with("blob:") && !source.starts_with("data:");
            kept.then(|| source.to_owned())
        }
        _ => None,
    }
}

fn player(source: &str) -> Option<String> {
    let rest = source.split_once("//")?.1;
    let (host, path) = rest.split_at(rest.find('/')?);
    let (_, before, page) = PLAYERS.iter().find(|(player, ..)| host.eq_ignore_ascii_case(player))?;
    let name = path.strip_prefix(before)?;
    let name = name.split(['?', '#', '/', '&']).next().unwrap_or_default();
    Some(if page.is_empty() || name.is_empty() || name == "videoseries" {
        format!("https://{rest}")
    } else {
        format!("{page}{name}")
    })
}
