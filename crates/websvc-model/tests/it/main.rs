//! The tests of the model seam.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod openai;
