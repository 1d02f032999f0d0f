"""Altered answers, and samples of all events, of which schema and command must say the same."""

import json
import os

from schemas import fail


def mutations(value, path=()):
    """Copies of a value with one member removed, one added or one of another type."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield path + (name, "removed"), {k: v for k, v in value.items() if k != name}
            wrong = {"x": 1} if not isinstance(inner, dict) else 7
            yield path + (name, "of another type"), {**value, name: wrong}
        yield path + ("unheard_of", "added"), {**value, "unheard_of": 1}


def controls(schemas, answers):
    """Altered answers must fail."""
    answer = next(a for a in answers if a["purchases"] and a["features"])
    if not schemas.accepts("show", answer):
        fail("control: the answer itself is not valid")
    count = 0
    altered = list(mutations(answer))
    for part in ("purchases",):
        altered += [((part, *p), {**answer, part: [v]}) for p, v in mutations(answer[part][0])]
    name = next(iter(answer["features"]))
    altered += [(("features", *p), {**answer, "features": {name: v}})
                for p, v in mutations(answer["features"][name])]
    altered += [(("at", text), {**answer, "at": text})
                for text in ("2025-03-15", "2025-13-15T00:00:00.000Z", "2025-03-15T00:00:00Z")]
    for path, value in altered:
        count += 1
        if path[:2] == ("features", "of another type") and isinstance(value["features"], dict):
            continue
        if schemas.accepts("show", value):
            fail(f"control: an answer with {'.'.join(map(str, path))} was accepted")
    print(f"  {count} altered answers refused")


SAMPLES = {
    "identifier": "id 1", "name": "a.name", "freeText": "why", "purchaseName": "app_store/1/2",
    "productKind": "consumable", "code": "a.code", "eventInstant": "2025-01-02T03:04:05.678Z",
}


def sample(schema, fields):
    reference = schema.get("$ref", "")
    if reference.startswith("#/$defs/fields/"):
        return sample(fields[reference.rsplit("/", 1)[1]], fields)
    if reference:
        return SAMPLES[reference.rsplit("/", 1)[1]]
    if "enum" in schema:
        return schema["enum"][0]
    return {"boolean": True, "integer": 1, "array": ["x"], "object": {"store": 5}, "string": "EUR"}[schema["type"]]


def cases(schema):
    """Samples of every type, whole and altered; what they hold is made from the schema's own lists."""
    fields = schema["$defs"]["fields"]
    subjects = {"purchase": "purchase/app_store/1", "customer": "customer/a b/c", "store": "store/app_store",
                "catalog": "catalog"}
    for rule in schema["allOf"]:
        kind = rule["if"]["properties"]["type"]["const"]
        if kind in ("customer.erased", "catalog.published"):
            continue  # One is appended by erasures only; the other's data is a catalog.
        then = rule["then"]["properties"]
        data = {name: sample(field, fields) for name, field in then["data"]["properties"].items()}
        base = {"specversion": "1.0", "source": "app", "type": kind, "time": "2025-01-02t04:04:05+01:00",
                "data": data}
        fits = [s for s in ("purchase", "customer", "store") if s + "/" in then["subject"]["pattern"]]
        for name, subject in subjects.items():
            yield f"{kind} about a {name}", {**base, "subject": subject}
        base["subject"] = subjects[fits[0]]
        for name in data:
            yield f"{kind} without {name}", {**base, "data": {k: v for k, v in data.items() if k != name}}
            for wrong in (None, 1.5, [], {}, "", 10**19, -1, True, "x" * 9000, ["x"] * 1001, {"s": -1}, "\u0007",
                          "1999-01-01T00:00:00Z", "2025-02-30T00:00:00Z", "2025-01-01", "EURO", "App/1", 0):
                yield f"{kind} with {name} {str(wrong)[:20]!r}", {**base, "data": {**data, name: wrong}}
        yield f"{kind} with a field too many", {**base, "data": {**data, "unheardOf": 1}}
        yield f"{kind} with no data", {k: v for k, v in base.items() if k != "data"}
    for name, value in (("specversion", "0.3"), ("source", ""), ("time", "2025-01-01"), ("environment", "test"),
                        ("environment", "sandbox"), ("type", "purchase.vanished"), ("extra", 1),
                        ("time", "2025-01-01T24:00:00Z"), ("time", "2025-01-01T00:00:60Z"),
                        ("time", "2025-01-01T00:00:00.1234567890Z"), ("data", []), ("time", 5)):
        yield f"an event with {name} {value!r}", {**base, name: value}
    for name in schema["properties"]:
        yield f"an event without {name}", {k: v for k, v in {**base, "environment": "local"}.items() if k != name}


def verdicts(schemas, entitle, folder):
    """Schema and command must say the same of every sample."""
    named = list(cases(schemas.documents["event"]))
    path = os.path.join(folder, "samples.ndjson")
    with open(path, "w", encoding="utf-8") as file:
        for number, (_, event) in enumerate(named):
            event["id"] = f"sample {number}"
            file.write(json.dumps(event) + "\n")
    ledger = os.path.join(folder, "samples")
    entitle("init", ledger=ledger)
    report = entitle("import", path, "--format", "events", "--on-error", "skip", "--json", ledger=ledger)[0]
    refused = {refusal["line"]: refusal for refusal in report["refusals"]}
    for number, (what, event) in enumerate(named, 1):
        if schemas.accepts("event", event) == (number in refused):
            fail(f"{what}: the command {'refuses' if number in refused else 'takes'} it, the schema does not: "
                 f"{json.dumps(refused.get(number, event))[:300]}")
    print(f"  {len(named)} samples of events: command and schema agree, {len(refused)} refused")
