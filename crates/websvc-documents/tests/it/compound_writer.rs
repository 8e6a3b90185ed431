//! A writer of OLE compound files.

/// A storage of a compound file with its children, or a stream with its content.
pub(crate) enum Node {
    Storage(&'static str, Vec<Node>),
    Stream(String, Vec<u8>),
}

/// An entry of the directory: name, type, first child, next sibling, first sector, size.
struct Entry(String, u8, u32, u32, u32, usize);

/// Returns a compound file of these nodes, without small sectors.
pub(crate) fn compound(nodes: Vec<Node>) -> Vec<u8> {
    const NONE: u32 = 0xffff_ffff;
    let (mut entries, mut content) = (vec![Entry("Root Entry".to_owned(), 5, NONE, NONE, 0, 0)], Vec::new());
    entries[0].2 = add(nodes, &mut entries, &mut content);
    let directory_sectors = entries.len().div_ceil(4);
    let first = 1 + directory_sectors;
    let mut table: Vec<u32> = vec![0xffff_fffd];
    table.extend((1..first).map(|sector| if sector + 1 < first { sector as u32 + 1 } else { 0xffff_fffe }));
    let mut directory = Vec::new();
    for entry in &mut entries {
        if entry.1 == 2 {
            let sectors = entry.5.div_ceil(512).max(1);
            let start = first + entry.4 as usize;
            entry.4 = start as u32;
            table
                .extend((1..=sectors).map(|at| if at < sectors { (start + at) as u32 } else { 0xffff_fffe }));
        }
        let mut bytes: Vec<u8> = entry.0.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u16::try_from(bytes.len()).unwrap() + 2;
        bytes.resize(64, 0);
        bytes.extend(length.to_le_bytes());
        bytes.extend([entry.1, 1]);
        [NONE, entry.3, entry.2].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.resize(116, 0);
        bytes.extend(entry.4.to_le_bytes());
        bytes.extend((entry.5 as u64).to_le_bytes());
        directory.extend(bytes);
    }
    directory.resize(directory_sectors * 512, 0);
    table.resize(128, NONE);
    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.resize(512, 0);
    // The version, and the sizes of sectors as powers of 2.
    file[26] = 3;
    file[30] = 9;
    file[32] = 6;
    file[48..52].copy_from_slice(&1_u32.to_le_bytes());
    file[60..64].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    file[68..72].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    file[80..512].fill(0xff);
    file.extend(table.iter().flat_map(|number| number.to_le_bytes()));
    file.extend(directory);
    file.extend(content);
    file
}

/// Adds nodes to the directory, and returns the number of the first one.
fn add(nodes: Vec<Node>, entries: &mut Vec<Entry>, content: &mut Vec<u8>) -> u32 {
    let mut next = 0xffff_ffff;
    for node in nodes.into_iter().rev() {
        let entry = match node {
            Node::Storage(name, children) => {
                let child = add(children, entries, content);
                Entry(name.to_owned(), 1, child, next, 0, 0)
            }
            Node::Stream(name, bytes) => {
                let (start, size) = (content.len() / 512, bytes.len());
                content.extend(bytes);
                content.resize((content.len().div_ceil(512)).max(start + 1) * 512, 0);
                Entry(name, 2, 0xffff_ffff, next, start as u32, size)
            }
        };
        next = entries.len() as u32;
        entries.push(entry);
    }
    next
}
