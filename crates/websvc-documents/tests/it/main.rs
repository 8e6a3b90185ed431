//! What documents say, by format.

mod pdf;
mod pdf_hostile;
mod pdf_writer;
