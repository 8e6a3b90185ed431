//! The tests of the model seam.

mod openai;
