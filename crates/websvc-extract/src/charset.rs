//! From bytes to text: byte order mark, declared charset, meta prescan, then detection.
