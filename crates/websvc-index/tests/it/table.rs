//! Operators, filters and verticals in combination, on one small web.
