"""Checks the OpenAPI document of a running service: `openapi_document.py ADDRESS PUBLISHED_FILE`."""

import importlib.metadata
import json
import pathlib
import sys
import urllib.request

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

ADDRESS, PUBLISHED = sys.argv[1], pathlib.Path(sys.argv[2])


def published(served, document):
    assert served == PUBLISHED.read_bytes(), f"what is served differs from {PUBLISHED.name}"


def valid(served, document):
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        raise error


def examples_valid(served, document):
    count = 0
    for where, content in contents(document, "#"):
        # The references of the schema lead into the document's components.
        schema = {**content["schema"], "components": document["components"]}
        for name, example in content["examples"].items():
            for error in Draft202012Validator(schema).iter_errors(example["value"]):
                raise AssertionError(f"{where}, example {name}: {error.json_path}: {error.message}")
            count += 1
    assert count > 20, f"only {count} examples were found"


def contents(value, where):
    """Yields every body that has a schema and examples of it, and where it is."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        if "schema" in value and "examples" in value:
            yield where, value
        else:
            for key, inner in value.items():
                yield from contents(inner, f"{where}/{key}")


def main():
    print("client openapi-spec-validator", importlib.metadata.version("openapi-spec-validator"))
    with urllib.request.urlopen(f"{ADDRESS}/openapi.json", timeout=30) as answer:
        served = answer.read()
    document = json.loads(served)
    for name, check in (
        ("the published document is what is served", published),
        ("the document is valid OpenAPI 3.1", valid),
        ("every example has the form of its schema", examples_valid),
    ):
        try:
            check(served, document)
            print(f"ok {name}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
            print(f"failed {name}: {error}".replace("\n", " "))


main()
