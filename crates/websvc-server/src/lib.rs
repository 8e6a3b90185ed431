//! The HTTP interface of websvc as an embeddable library.
