//! The files of one state of the index, for a copy that is made while somebody writes.
//!
//! The files of a part never change once they are written; they are only removed when another part has taken over. So
//! they are opened under the lock that keeps them from being removed, and read at leisure after it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, META_LOCK};
use tantivy::index::SegmentComponent;

use crate::error::IndexError;
use crate::index::{FORMAT_FILE, IMAGES, Index};
use crate::schema::FORMAT;
use crate::sub_index::SubIndex;

/// The file in which the engine says which parts an index has ...
const META: &str = "meta.json";
/// ... and the one in which it lists the files that it may remove one day.
const MANAGED: &str = ".managed.json";

/// Files of every segment.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
];

impl Index {
    /// Calls `visit` with every file of the last commit: its path in the directory of the index, its length in bytes
    /// and its content. Together they are an index, whatever is written in the meantime.
    ///
    /// # Errors
    /// When the files of the index cannot be read, and the first error of `visit`.
    pub fn each_file<E: From<IndexError>>(
        &self,
        mut visit: impl FnMut(&Path, u64, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        // The pages first: a page that is there has its images, and one without its page is never shown.
        let pages = OpenCommit::of(self.pages())?;
        let images = OpenCommit::of(self.images())?;
        let format = format!("{FORMAT}\n");
        visit(Path::new(FORMAT_FILE), format.len() as u64, &mut format.as_bytes())?;
        pages.visit(Path::new(""), &mut visit)?;
        images.visit(Path::new(IMAGES), &mut visit)
    }
}

/// The files of one shelf at one commit.
struct OpenCommit {
    meta: Vec<u8>,
    managed: Vec<u8>,
    parts: Vec<(PathBuf, File, u64)>,
}

impl OpenCommit {
    fn of(shelf: &SubIndex) -> Result<Self, IndexError> {
        let in_directory = |source| IndexError::Directory { dir: shelf.dir.clone(), source };
        let directory = shelf.index.directory();
        let _kept = directory.acquire_lock(&META_LOCK).map_err(|error| shelf.engine(error.into()))?;
        let meta = shelf.index.load_metas().map_err(|error| shelf.engine(error))?;
        let mut parts = Vec::new();
        for segment in &meta.segments {
            let deletions = segment.has_deletes().then_some(SegmentComponent::Delete);
            for component in COMPONENTS.into_iter().chain(deletions) {
                let path = segment.relative_path(component);
                let file = File::open(shelf.dir.join(&path)).map_err(in_directory)?;
                let bytes = file.metadata().map_err(in_directory)?.len();
                parts.push((path, file, bytes));
            }
        }
        let managed: BTreeSet<&Path> =
            parts.iter().map(|(path, ..)| path.as_path()).chain([Path::new(META)]).collect();
        let written = |error| in_directory(io::Error::other(error));
        Ok(Self {
            meta: serde_json::to_vec_pretty(&meta).map_err(written)?,
            managed: serde_json::to_vec(&managed).map_err(written)?,
            parts,
        })
    }

    fn visit<E>(
        self,
        folder: &Path,
        visit: &mut impl FnMut(&Path, u64, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { meta, managed, parts } = self;
        visit(&folder.join(MANAGED), managed.len() as u64, &mut managed.as_slice())?;
        for (path, file, bytes) in parts {
            visit(&folder.join(path), bytes, &mut file.take(bytes))?;
        }
        visit(&folder.join(META), meta.len() as u64, &mut meta.as_slice())
    }
}
