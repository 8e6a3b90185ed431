//! Prices and availabilities, which products and menus share.

mod availability;
mod currency;
mod money;

pub(crate) use availability::{StockStatus, status_text};
pub(crate) use currency::code;
pub(crate) use money::{Notation, amount_of, amounts_in, has_price, price_of};
