//! Sentences with placeholders for personal data: `{P}` a person, `{E}` mail, `{T}` telephone, `{L}` a location, `{F}`
//! a financial number, `{S}` a secret. The rules were developed with the first list. The second was written for the
//! evaluation, but its results were known before the last changes.

pub(crate) const DEVELOPMENT: &[&str] = &[
    "Contact {P} at {E} or {T}.",
    "## {P}\n\n{L}\n\nTel. {T}",
    "| {P} | {L} | {E} |",
    "Pay to {F} by Friday.",
    "The key is `{S}`.",
    "Dr. {P} lives in {L}.",
    "[{E}](mailto:{E})",
    "Karte {F}, Konto bei der Bank",
    "export TOKEN={S}",
    "- **{P}**: {T}",
];

pub(crate) const HELD_OUT: &[&str] = &[
    "Please reach out to {P} ({E}) for any question about the programme.",
    "Our office: {L}. Phone: {T}.",
    "> {P} wrote on the list: my new number is {T}, and my address is {E}",
    "Sehr geehrte Frau {P}, bitte überweisen Sie den Betrag auf {F}.",
    "Vous pouvez joindre {P} au {T} ou à l'adresse {E}.",
    "Escriba a {E} o llame al {T}; nuestra sede está en {L}.",
    "Per informazioni: {P}, {E}, tel. {T}",
    "1. {P} - {E}\n2. {P} - {E}\n3. {P} - {E}",
    "The conference took place in {L} and was opened by {P}.",
    "Delivery address:\n{L}\n\nCustomer: {P}",
    "| Name | Mail | Telefon |\n|---|---|---|\n| {P} | {E} | {T} |\n| {P} | {E} | {T} |",
    "My card {F} was charged twice, please refund {P}.",
    "Bank account (IBAN): {F}",
    "curl -H \"X-Key: {S}\" https://api.example.com/v1",
    "```yaml\nsecret: {S}\n```",
    "I pushed {S} to the repository by mistake, said {P}.",
    "Author: {P}\nPublished in {L}",
    "*{P}*, born in {L}, has lived in {L} since 1999.",
    "Prof. {P} und Herr {P} trafen sich in {L}.",
    "Fax {T}, Mobil {T}, E-Mail {E}",
    "Signed by {P} on 2024-05-17 in {L}",
    "Emergency contact: {P}, {T}",
];
