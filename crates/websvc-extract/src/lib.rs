//! Bytes in, document out: charset, DOM, main content, markdown, links, images and metadata of a page.
