"""The schemas of the folder, each with a validator, and what did not hold."""

import json
import os

from harness.start import ROOT
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = os.path.join(ROOT, "schemas")
CHECKER = Draft202012Validator.FORMAT_CHECKER
assert "date-time" in CHECKER.checkers, "rfc3339-validator is not installed"

failures = []


def fail(text):
    failures.append(text)
    print(f"FAILED {text}"[:600])


class Schemas:
    def __init__(self):
        self.documents = {}
        for name in sorted(os.listdir(FOLDER)):
            if name.endswith(".schema.json"):
                with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                    self.documents[name.split(".")[0]] = json.load(file)
        registry = Registry().with_resources(
            (d["$id"], Resource.from_contents(d)) for d in self.documents.values())
        self.validators = {}
        for name, document in self.documents.items():
            Draft202012Validator.check_schema(document)
            self.validators[name] = Draft202012Validator(
                document, registry=registry, format_checker=CHECKER)
        self.used = {"common"}

    def accepts(self, name, value):
        return self.validators[name].is_valid(value)

    def check(self, name, values, what):
        """Every value must be valid; none at all is a failure too."""
        self.used.add(name)
        for number, value in enumerate(values):
            for error in self.validators[name].iter_errors(value):
                fail(f"{what}, document {number}: {error.json_path}: {error.message[:200]}")
        if not values:
            fail(f"{what}: nothing was printed")
        print(f"  {what}: {len(values)} valid")
