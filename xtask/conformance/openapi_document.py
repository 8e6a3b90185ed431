"""Checks the OpenAPI document of a running service: `openapi_document.py ADDRESS PUBLISHED_FILE`."""

import importlib.metadata
import json
import pathlib
import sys
import urllib.request

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

ADDRESS, PUBLISHED = sys.argv[1], pathlib.Path(sys.argv[2])


def check_published(served, document):
    assert served == PUBLISHED.read_bytes(), f"the served document differs from {PUBLISHED.name}"


def check_valid(served, document):
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        raise error


def check_examples(served, document):
    count = 0
    for location, content in find_examples(document, "#"):
        # References in the schema resolve to the components of the document.
        schema = {**content["schema"], "components": document["components"]}
        for name, example in content["examples"].items():
            for error in Draft202012Validator(schema).iter_errors(example["value"]):
                raise AssertionError(f"{location}, example {name}: {error.json_path}: {error.message}")
            count += 1
    assert count > 20, f"found only {count} examples"


def find_examples(value, location):
    """Yields the location and content of every body with a schema and examples."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        if "schema" in value and "examples" in value:
            yield location, value
        else:
            for key, inner in value.items():
                yield from find_examples(inner, f"{location}/{key}")


def main():
    print("client openapi-spec-validator", importlib.metadata.version("openapi-spec-validator"))
    with urllib.request.urlopen(f"{ADDRESS}/openapi.json", timeout=30) as response:
        served = response.read()
    document = json.loads(served)
    for name, check in (
        ("the served document equals the published document", check_published),
        ("the document is valid OpenAPI 3.1", check_valid),
        ("every example matches its schema", check_examples),
    ):
        try:
            check(served, document)
            print(f"ok {name}")
        except Exception as error:  # noqa: BLE001 - any exception is a failed check
            print(f"failed {name}: {error}".replace("\n", " "))


main()
