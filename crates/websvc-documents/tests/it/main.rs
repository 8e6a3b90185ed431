//! What documents say, by format.

mod office;
mod package_writer;
mod pdf;
mod pdf_hostile;
mod pdf_writer;
mod text;
