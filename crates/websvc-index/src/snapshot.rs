//! A consistent snapshot of the files of the index, for a backup during writes.
//!
//! The files of a segment never change after they are written; they are only removed after a merge. So this opens them
//! under the lock that prevents their removal, releases the lock and reads them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, META_LOCK};
use tantivy::index::SegmentComponent;

use crate::creation::{FORMAT_FILE, IMAGES, META};
use crate::error::IndexError;
use crate::index::Index;
use crate::schema::FORMAT;
use crate::sub_index::SubIndex;

/// File in which tantivy lists the files that it manages and may remove.
const MANAGED: &str = ".managed.json";

/// Components of every segment, one file each.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
];

impl Index {
    /// Calls `visit` for every file of the last commit with its path relative to the directory of the index, its length
    /// in bytes and its content. Together they are a complete index, even if documents are written meanwhile.
    ///
    /// # Errors
    /// Fails when the files of the index cannot be read. Returns the first error of `visit`.
    pub fn each_file<E: From<IndexError>>(
        &self,
        mut visit: impl FnMut(&Path, u64, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        // Images are committed before their page. Since the pages are opened first, the snapshot has the images of
        // every page in it; images without a page are never displayed.
        let pages = OpenCommit::from_sub_index(self.pages())?;
        let images = OpenCommit::from_sub_index(self.images())?;
        let format = format!("{FORMAT}\n");
        visit(Path::new(FORMAT_FILE), format.len() as u64, &mut format.as_bytes())?;
        pages.visit(Path::new(""), &mut visit)?;
        images.visit(Path::new(IMAGES), &mut visit)
    }
}

/// The open files of one sub-index at one commit.
struct OpenCommit {
    meta: Vec<u8>,
    managed: Vec<u8>,
    /// Path, file and length in bytes.
    segment_files: Vec<(PathBuf, File, u64)>,
}

impl OpenCommit {
    fn from_sub_index(sub_index: &SubIndex) -> Result<Self, IndexError> {
        let in_directory = |source| IndexError::Directory { dir: sub_index.dir.clone(), source };
        let directory = sub_index.index.directory();
        let _lock = directory.acquire_lock(&META_LOCK).map_err(|error| sub_index.engine(error.into()))?;
        let meta = sub_index.index.load_metas().map_err(|error| sub_index.engine(error))?;
        let mut segment_files = Vec::new();
        for segment in &meta.segments {
            let deletions = segment.has_deletes().then_some(SegmentComponent::Delete);
            for component in COMPONENTS.into_iter().chain(deletions) {
                let path = segment.relative_path(component);
                let file = File::open(sub_index.dir.join(&path)).map_err(in_directory)?;
                let bytes = file.metadata().map_err(in_directory)?.len();
                segment_files.push((path, file, bytes));
            }
        }
        let managed: BTreeSet<&Path> =
            segment_files.iter().map(|(path, ..)| path.as_path()).chain([Path::new(META)]).collect();
        let written = |error| in_directory(io::Error::other(error));
        Ok(Self {
            meta: serde_json::to_vec_pretty(&meta).map_err(written)?,
            managed: serde_json::to_vec(&managed).map_err(written)?,
            segment_files,
        })
    }

    fn visit<E>(
        self,
        folder: &Path,
        visit: &mut impl FnMut(&Path, u64, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { meta, managed, segment_files } = self;
        visit(&folder.join(MANAGED), managed.len() as u64, &mut managed.as_slice())?;
        for (path, file, bytes) in segment_files {
            visit(&folder.join(path), bytes, &mut file.take(bytes))?;
        }
        visit(&folder.join(META), meta.len() as u64, &mut meta.as_slice())
    }
}
