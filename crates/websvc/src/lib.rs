//! The facade of websvc: types, validation, transport and a typed client.
