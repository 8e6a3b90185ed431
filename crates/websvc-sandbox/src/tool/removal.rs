//! The removal of what a tool has written.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;

/// Removes a directory and everything in it; it is not an error if it does not exist. Blocks.
///
/// A tool that a page has taken over may have nested directories so deeply that a recursive removal has too few files or
/// too small a stack, and may have taken the rights to them away. So directories are moved up before they are emptied, at
/// most two are open, and the rights are given back. Links are not followed.
///
/// # Errors
/// Something cannot be removed.
pub fn remove_output(directory: &Path) -> io::Result<()> {
    let root = match open(CWD, directory) {
        Err(Errno::NOENT) => return Ok(()),
        root => root?,
    };
    let mut moved = 0;
    loop {
        let removed = empty(&root, &mut moved)?;
        match std::fs::remove_dir(directory) {
            // Moved directories, or files of a process that is being killed.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && removed > 0 => {}
            end => return end,
        }
    }
}

/// Removes the entries of a directory, and moves those of its directories into it. Returns the number of removed entries.
fn empty(root: &OwnedFd, moved: &mut u64) -> Result<usize, Errno> {
    let mut removed = 0;
    for_each_entry(root, |name| {
        if !remove_unless_directory(root, name)? {
            let directory = open(root, name)?;
            for_each_entry(&directory, |inner| {
                if remove_unless_directory(&directory, inner)? {
                    Ok(())
                } else {
                    move_up(&directory, inner, root, moved)
                }
            })?;
            match rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR) {
                // Of a process that is being killed.
                Err(Errno::NOTEMPTY) => {}
                result => result?,
            }
        }
        removed += 1;
        Ok(())
    })?;
    Ok(removed)
}

/// Calls a function for each entry of a directory.
fn for_each_entry(
    directory: &OwnedFd,
    mut handle: impl FnMut(&CStr) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if ![c".", c".."].contains(&entry.file_name()) {
            handle(entry.file_name())?;
        }
    }
    Ok(())
}

/// Removes an entry that is not a directory. Returns true if it is gone. A directory stays, and is made accessible to this
/// user.
fn remove_unless_directory(parent: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            // The mode of an open path can be changed by this link only. It leads to the directory itself.
            rustix::fs::chmod(format!("/proc/self/fd/{}", directory.as_raw_fd()), Mode::RWXU)?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Moves a directory into the root, under a name that is free.
fn move_up(parent: &OwnedFd, name: &CStr, root: &OwnedFd, moved: &mut u64) -> Result<(), Errno> {
    loop {
        *moved += 1;
        match rustix::fs::renameat(parent, name, root, format!("moved-{moved}")) {
            // The tool has used the name.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            result => return result,
        }
    }
}

fn open(parent: impl AsFd, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let parent: BorrowedFd<'_> = parent.as_fd();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// The depth of directories: more than a path may have.
    const DEPTH: usize = 2_100;

    #[test]
    fn deep_and_locked_directories_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let (kept, root) = (parent.path().join("kept"), parent.path().join("root"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        fs::create_dir_all(root.join("output/moved-1/inner")).unwrap();
        fs::write(root.join("moved-2"), "x").unwrap();
        symlink(&kept, root.join("output/link")).unwrap();
        symlink(&kept, root.join("link")).unwrap();
        fs::create_dir_all(root.join("output/locked/inner")).unwrap();
        fs::write(root.join("output/locked/inner/file"), "x").unwrap();
        for path in ["output/locked/inner", "output/locked", "output"] {
            fs::set_permissions(root.join(path), Permissions::from_mode(0o000)).unwrap();
        }
        let mut deep = open(CWD, &root).unwrap();
        for _ in 0..DEPTH {
            rustix::fs::mkdirat(&deep, c"d", Mode::RWXU).unwrap();
            deep = open(&deep, c"d").unwrap();
        }
        remove_output(&root).unwrap();
        assert!(!root.exists());
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "x", "links are not followed");
        remove_output(&root).unwrap();
    }
}
