//! The field rules of websvc: turns a request into a checked plan or lists every violation.
