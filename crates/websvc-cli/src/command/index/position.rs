//! The position of an import in its inputs, in a file from which the same command continues.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::output;

/// Minimum time between two writes of the file. What is written is a position of the write before: in this time, the
/// documents before it were committed, so that the file is not ahead of the index after a power failure.
const INTERVAL: Duration = Duration::from_secs(5);

/// Positions by the absolute path of the input.
type Positions = BTreeMap<PathBuf, Position>;

/// The position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    /// Size of the file, in bytes. A file of another size is another file.
    bytes: u64,
    /// Number of lines or records that were imported or skipped.
    items: u64,
}

/// The positions of an import.
pub(super) struct Resume {
    /// The file with the positions, or none if they are not kept.
    file: Option<PathBuf>,
    current: Positions,
    /// The positions at the last write.
    previous: Option<(Instant, Positions)>,
    /// The absolute path of each input whose position is kept.
    inputs: Vec<Option<PathBuf>>,
}

impl Resume {
    /// Reads the positions, if there are any.
    pub(super) fn open(file: Option<PathBuf>) -> Result<Self> {
        let current = match &file {
            Some(file) => read(file)?,
            None => Positions::new(),
        };
        Ok(Self { file, current, previous: None, inputs: Vec::new() })
    }

    /// Returns how many items of each input the import has done. Directories begin again, because their files change.
    pub(super) fn begin(&mut self, inputs: &[PathBuf]) -> Result<Vec<u64>> {
        inputs.iter().map(|input| self.begin_input(input)).collect()
    }

    fn begin_input(&mut self, input: &Path) -> Result<u64> {
        if self.file.is_none() || input.is_dir() {
            self.inputs.push(None);
            return Ok(0);
        }
        let key = std::path::absolute(input)?;
        ensure!(
            !self.inputs.iter().flatten().any(|other| *other == key),
            "{} is named twice: --resume keeps one position for each file",
            input.display()
        );
        let bytes =
            std::fs::metadata(input).with_context(|| format!("cannot read {}", input.display()))?.len();
        let position = self.current.entry(key.clone()).or_insert(Position { bytes, items: 0 });
        if position.bytes != bytes {
            output::warn(&format!(
                "{} had {} bytes when its import began, and has {bytes} now: it is imported from its beginning",
                input.display(),
                position.bytes
            ));
            *position = Position { bytes, items: 0 };
        }
        let items = position.items;
        self.inputs.push(Some(key));
        Ok(items)
    }

    /// Counts an item of the input at this index.
    pub(super) fn advance(&mut self, input: usize) {
        let key = self.inputs.get(input).and_then(Option::as_ref);
        if let Some(position) = key.and_then(|key| self.current.get_mut(key)) {
            position.items += 1;
        }
    }

    /// Stores a position at times. Call it when the index has accepted the documents of all counted items.
    pub(super) fn accepted(&mut self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let now = Instant::now();
        match &self.previous {
            Some((at, _)) if now.duration_since(*at) < INTERVAL => return Ok(()),
            Some((_, positions)) => write(file, positions)?,
            None => {}
        }
        self.previous = Some((now, self.current.clone()));
        Ok(())
    }

    /// Stores the last position. Call it when the index is committed.
    pub(super) fn finish(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| write(file, &self.current))
    }
}

fn read(file: &Path) -> Result<Positions> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Positions::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    serde_json::from_slice(&text).with_context(|| {
        format!("{} does not have the positions of an import: name another file for --resume", file.display())
    })
}

fn write(file: &Path, positions: &Positions) -> Result<()> {
    let context = || format!("cannot write {}", file.display());
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(directory).with_context(context)?;
    draft.write_all(&serde_json::to_vec_pretty(positions)?).with_context(context)?;
    draft.as_file().sync_all().with_context(context)?;
    draft.persist(file).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_continues_at_its_position_unless_the_file_changed() {
        let directory = tempfile::tempdir().unwrap();
        let (input, file) = (directory.path().join("a.warc"), directory.path().join("position.json"));
        std::fs::write(&input, "records").unwrap();
        let inputs = [input.clone(), directory.path().to_owned()];
        let mut resume = Resume::open(Some(file.clone())).unwrap();
        assert_eq!(resume.begin(&inputs).unwrap(), [0, 0]);
        for _ in 0..3 {
            (0..inputs.len()).for_each(|input| resume.advance(input));
        }
        resume.accepted().unwrap();
        assert!(!file.exists(), "a position is written only when a later one is reached");
        resume.finish().unwrap();
        let mut resume = Resume::open(Some(file.clone())).unwrap();
        assert_eq!(resume.begin(&inputs).unwrap(), [3, 0], "a directory begins again");
        std::fs::write(&input, "other records").unwrap();
        assert_eq!(Resume::open(Some(file.clone())).unwrap().begin(&inputs).unwrap(), [0, 0]);
        let twice = [input.clone(), input];
        let error = Resume::open(Some(file)).unwrap().begin(&twice).unwrap_err().to_string();
        assert!(error.contains("a.warc is named twice"), "{error}");
    }

    #[test]
    fn stored_position_is_older_than_the_interval() {
        let directory = tempfile::tempdir().unwrap();
        let (input, file) = (directory.path().join("a.warc"), directory.path().join("position.json"));
        std::fs::write(&input, "records").unwrap();
        let mut resume = Resume::open(Some(file.clone())).unwrap();
        resume.begin(std::slice::from_ref(&input)).unwrap();
        resume.advance(0);
        resume.accepted().unwrap();
        resume.advance(0);
        let earlier = Instant::now().checked_sub(INTERVAL).unwrap();
        resume.previous.as_mut().unwrap().0 = earlier;
        resume.accepted().unwrap();
        assert_eq!(read(&file).unwrap().values().next().unwrap().items, 1);
    }

    #[test]
    fn file_of_another_kind_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("position.json");
        std::fs::write(&file, "{\"a\": 1}").unwrap();
        let error = Resume::open(Some(file)).err().unwrap().to_string();
        assert!(error.contains("does not have the positions of an import"), "{error}");
    }
}
