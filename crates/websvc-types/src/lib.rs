//! Wire models of the websvc HTTP interface: requests, responses, limits, errors and their JSON Schemas.
