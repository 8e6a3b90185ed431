"""Generates texts with personal data for `cargo run --release -p websvc-redact --example evaluate`.

Names, addresses and numbers come from PyPI `faker` (pinned below), so that the authors of the rules did not choose them.
There are two lists of sentences. The rules may be improved by the mistakes in the first one (`development`). Of the
second one (`held-out`: other sentences, other countries, another seed), only the results may be read.

    python -m venv VENV && VENV/bin/pip install faker==FAKER
    VENV/bin/python crates/websvc-redact/evaluation/generate.py held-out 40 > FILE

Each line of the output is a JSON object: `locale`, `text`, and `gold`, a list of kind, first byte, and the byte after the last.
"""

import json
import random
import sys

import faker

FAKER = "40.54.0"

# {P} a person, {E} mail, {T} telephone, {A} an address, {C} a city, {I} an IBAN, {K} a card, {W} a password.
# Slots in <> are not personal data of these kinds: <company>, <job>, <text>.
SENTENCES = {
    "development": {
        "en": [
            "Contact {P} at {E} or {T}.",
            "# Team\n\n- **{P}**, <job>\n- **{P}**, <job>",
            "By {P}\n\n<text>",
            "Dear {P},\n\nthank you for your letter. <text>\n\nKind regards,\n{P}",
            "| Name | Mail |\n|---|---|\n| {P} | {E} |\n| {P} | {E} |",
            "The meeting in {C} was led by {P}, who works for <company>.",
            "Send it to:\n\n{P}\n{A}",
            "Please pay to {I} or by card {K}.",
            "user: guest\npassword: {W}",
            "<text> <company> has offices in {C}.",
            "\"I did not know that\", said {P}.",
            "Photo: {P}",
        ],
        "de": [
            "Ansprechpartner: {P}, Tel. {T}, {E}",
            "Von {P}\n\n<text>",
            "Sehr geehrte Damen und Herren,\n\n<text>\n\nMit freundlichen Grüßen\n{P}",
            "{P} lebt in {C} und arbeitet bei <company>.",
            "Anschrift: {A}",
            "IBAN: {I}",
            "Lieber Herr {P}, <text>",
        ],
        "fr": [
            "Contact : {P}, {E}, {T}",
            "Par {P}\n\n<text>",
            "Madame, Monsieur,\n\n<text>\n\nCordialement,\n{P}",
            "{P} habite à {C} et travaille chez <company>.",
            "Adresse : {A}",
            "Merci de virer la somme sur {I}.",
        ],
        "es": [
            "Contacto: {P}, {E}, {T}",
            "Por {P}\n\n<text>",
            "Estimado señor {P}:\n\n<text>\n\nAtentamente,\n{P}",
            "{P} vive en {C} y trabaja en <company>.",
            "Dirección: {A}",
            "Transferencia a la cuenta {I}.",
        ],
        "it": [
            "Contatto: {P}, {E}, {T}",
            "di {P}\n\n<text>",
            "Gentile {P},\n\n<text>\n\nCordiali saluti,\n{P}",
            "{P} abita a {C} e lavora per <company>.",
            "Indirizzo: {A}",
        ],
        "nl": [
            "Contactpersoon: {P}, {E}, {T}",
            "Door {P}\n\n<text>",
            "Beste {P},\n\n<text>\n\nMet vriendelijke groet,\n{P}",
            "{P} woont in {C} en werkt bij <company>.",
        ],
    },
    "held-out": {
        "en": [
            "For questions write to {E}, or call {P} on {T} during office hours.",
            "## Speakers\n\n1. {P}\n2. {P}\n3. {P}",
            "Written by {P} | <text>",
            "Hi {P},\n\n<text>\n\nBest,\n{P}",
            "Last week our colleague {P} moved from {C} to {C}.",
            "The defendant, {P}, lives at {A}.",
            "Reviewed by {P} and {P}.",
            "<company> announced today that {P} will be its new <job>.",
            "Refund card {K} and send a note to {E}.",
            "Wire the amount to account {I}, attention of {P}.",
            "DB_USER=app\nDB_PASSWORD={W}",
            "Comments (2)\n\n{P} says:\n\n<text>\n\n{P} says:\n\n<text>",
            "<text> <company> is hiring in {C}: <job>.",
        ],
        "de": [
            "Unser Kollege {P} ist unter {T} oder {E} zu erreichen.",
            "Text: {P}\n\n<text>",
            "Hallo {P},\n\n<text>\n\nViele Grüße\n{P}",
            "<company> hat {P} aus {C} zum Vorstand bestellt.",
            "Der Kläger {P}, wohnhaft {A}, klagt.",
            "Bitte auf das Konto {I} von {P} überweisen.",
        ],
        "fr": [
            "Notre collègue {P} répond au {T} ou par {E}.",
            "Texte : {P}\n\n<text>",
            "Bonjour {P},\n\n<text>\n\nBien à vous,\n{P}",
            "<company> a nommé {P}, de {C}, à sa tête.",
            "Le compte de {P} est {I}.",
        ],
        "es": [
            "Nuestra compañera {P} atiende en el {T} y en {E}.",
            "Texto: {P}\n\n<text>",
            "Hola {P}:\n\n<text>\n\nUn saludo,\n{P}",
            "<company> ha nombrado a {P}, de {C}, presidente.",
        ],
        "pt": [
            "O nosso colega {P} atende pelo {T} ou por {E}.",
            "Por {P}\n\n<text>",
            "Caro {P},\n\n<text>\n\nAtenciosamente,\n{P}",
            "{P} mora em {C} e trabalha na <company>.",
        ],
        "sv": [
            "Kontakta {P} på {T} eller {E}.",
            "Av {P}\n\n<text>",
            "Hej {P},\n\n<text>\n\nMed vänliga hälsningar\n{P}",
            "{P} bor i {C} och arbetar på <company>.",
        ],
        "pl": [
            "Kontakt: {P}, {E}, {T}",
            "Autor: {P}\n\n<text>",
            "Szanowny Panie {P},\n\n<text>\n\nZ poważaniem\n{P}",
            "{P} mieszka w {C} i pracuje w <company>.",
        ],
    },
}

# The language of the sentences by locale; English for languages without sentences.
LOCALES = {
    "development": {
        "en_US": "en", "en_AU": "en", "de_DE": "de", "de_CH": "de", "fr_FR": "fr", "es_ES": "es", "it_IT": "it",
        "nl_NL": "nl", "tr_TR": "en", "hr_HR": "en", "en_NZ": "en",
    },
    "held-out": {
        "en_GB": "en", "en_CA": "en", "en_IE": "en", "en_IN": "en", "de_AT": "de", "fr_CA": "fr", "fr_CH": "fr",
        "es_MX": "es", "es_CO": "es", "pt_BR": "pt", "pt_PT": "pt", "sv_SE": "sv", "pl_PL": "pl", "cs_CZ": "en",
        "da_DK": "en", "fi_FI": "en", "no_NO": "en", "hu_HU": "en", "ro_RO": "en", "id_ID": "en",
    },
}

KINDS = {
    "P": "PERSON", "E": "EMAIL", "T": "PHONE", "A": "LOCATION", "C": "LOCATION", "I": "FINANCIAL", "K": "FINANCIAL",
    "W": "SECRET",
}


def value(fake, slot):
    if slot == "P":
        # First and last name only: titles and suffixes need not be found.
        return f"{fake.first_name()} {fake.last_name()}"
    generators = {
        "E": fake.email,
        "T": fake.phone_number,
        "A": lambda: fake.address().replace("\n", ", "),
        "C": fake.city,
        "I": fake.iban,
        "K": fake.credit_card_number,
        "W": lambda: fake.password(length=14),
        "company": fake.company,
        "job": fake.job,
        "text": lambda: fake.text(max_nb_chars=160).replace("\n", " "),
    }
    return generators[slot]()


def fill(fake, sentence):
    text, gold, rest = "", [], sentence
    while rest:
        opens = [at for at in (rest.find("{"), rest.find("<")) if at >= 0]
        if not opens:
            text += rest
            break
        at = min(opens)
        text += rest[:at]
        close = rest.index("}" if rest[at] == "{" else ">", at)
        slot = rest[at + 1 : close]
        generated = value(fake, slot)
        if rest[at] == "{":
            start = len(text.encode())
            gold.append([KINDS[slot], start, start + len(generated.encode())])
        text += generated
        rest = rest[close + 1 :]
    return text, gold


def main():
    if faker.VERSION != FAKER:
        sys.exit(f"faker {faker.VERSION} is installed; the published results are those of {FAKER}")
    which, rounds = sys.argv[1], int(sys.argv[2])
    seed = {"development": 1, "held-out": 2}[which]
    for locale, language in LOCALES[which].items():
        fake = faker.Faker(locale)
        fake.seed_instance(seed)
        random.seed(seed)
        for _ in range(rounds):
            for sentence in SENTENCES[which][language]:
                text, gold = fill(fake, sentence)
                print(json.dumps({"locale": locale, "text": text, "gold": gold}, ensure_ascii=False))


if __name__ == "__main__":
    main()
