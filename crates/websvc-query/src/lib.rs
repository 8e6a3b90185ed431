//! The query operators and time filters of websvc: lexer, parser, syntax tree, printer.
