"""Hostile values, and requests made of them by the schemas of the server's description."""

import base64
import json
import struct
import urllib.parse

NUMBERS = [
    0, 1, -1, 255, 256, 999, 1000, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63,
    -2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**18, 10**19, 10**30]
# As JSON writes them, and as nobody should.
NUMBER_TEXTS = [
    "1e308", "1e309", "-1e400", "1E-400", "0.1", "-0", "1.0", "1e3", "00", "+1", "0x10", "1_000",
    "9" * 400, "1" + "0" * 5000, "-", "", " 1", "1 ", "١٢٣", "NaN", "Infinity"]
TEXTS = [
    "", " ", ".", "..", "/", "%", "%00", "\0", "\n", "\r\n", "\t", "\x7f", "\x85", "null", "true",
    "*", "'", "\"", "\\", "`", "${x}", "{{x}}", "<script>", "a,b", "a;b", "a=b", "a&b", "a#b", "a?b",
    "\u00e9", "e\u0301", "\u212b", "\u200b", "\u202e", "\ufeff", "\uffff", "\U0001f469\u200d\U0001f469",
    "a" + "\u0301" * 300, "\ud7ff", "I\u0307", "\u00df", "\ufb03", "zh-Hant", "x-" + "a-" * 900 + "b",
    "production", "sandbox", "now", "app_store", "app_store/1", "customer/ann", "purchase/app_store/1"]
INSTANTS = [
    "now", "2026-01-01", "2026-01-01T00:00:00Z", "0000-01-01", "0000-01-01T00:00:00Z", "9999-12-31",
    "9999-12-31T23:59:59.999Z", "1999-12-31T23:59:59.999Z", "2000-01-01T00:00:00Z",
    "2199-12-31T23:59:59.999Z", "2200-01-01T00:00:00Z", "2024-02-30", "2024-02-29T24:00:00Z",
    "2026-01-01T00:00:00+23:59", "2026-01-01T00:00:00-23:59", "2026-01-01T00:00:00.123456789Z",
    "2026-01-01T00:00:60Z", "-36h", "+30d", "-9223372036854775808w", "+9223372036854775807s",
    "-106751991168d", "99999-01-01"]


def decision_token(kind, marks, at, size):
    """A decision token that nobody gave, of the first customer whom the log names."""
    parts = [struct.pack("<BBBBHqQ", 1, kind, 0, marks, 2, at, size)]
    parts += [struct.pack("<q", at)] * (marks & 1)
    parts += [struct.pack("<QB", 1, 0)] * (marks >> 1 & 1)
    parts += [struct.pack("<H", 4) + b"sync"] * (marks >> 2 & 1)
    return base64.urlsafe_b64encode(b"".join(parts) + bytes(16)).decode().rstrip("=")


# The largest that the server's head takes is far below.
LENGTHS = (1, 2, 63, 64, 255, 256, 257, 1023, 1024, 1025, 4000, 7000)
KNOWN = {
    "id": ["fuzzed-%d" % number for number in range(40)],
    "feature": ["open", "sync", "export", "archive", "nothing"],
    "key": ["open", "sync", "export", "archive"], "tier": ["free", "plus", "pro"],
    "trialId": ["week"], "grantId": ["g1", "g2"], "flowId": ["f1", "f2"],
    "productId": ["month", "year", "life"], "featureId": ["sync", "export"],
    "useId": ["u1"], "locale": ["en", "zh-Hant-TW", "de-" * 40 + "x"], "unit": ["seconds"],
    "targetingKey": ["fuzzed-1"], "level": [str(number) for number in range(9)],
    "place": ["000", "000.p/1", "001", "x001/000", "x18446744073709551615/000",
              "x999/x999/x999/x999/x999/999", "18446744073709551615", "000.p/255", "000.p/0"],
    "token": [decision_token(kind, marks, at, size) for kind in range(6) for marks in (0, 1, 2, 4, 8, 15)
              for at in (0, 1_767_225_600_000, 253_402_300_799_999, 2**63 - 1) for size in (0, 1, 9, 2**64 - 1)],
    "sequence": ["0", "1", "18446744073709551615"], "size": ["0", "1", "18446744073709551615"],
    # All but the first are refused: each webhook that is added costs a little of each change.
    "url": ["https://127.0.0.1:9/hook", "http://127.0.0.1:9/", "ftp://127.0.0.1/", "https://u:p@127.0.0.1/",
            "https://127.0.0.1/#x", "https://127.0.0.1:65536/", "https://127.0.0.1:-1/", "https://[::1/", "https://",
            "https:///x", "//127.0.0.1/", "https:127.0.0.1", "https://127.0.0.1/ x"],
    "types": ["entitlement.changed", "*", "grant.given", "purchase.renewed", "customer.erased"],
    "ids": ["msg_" + "0" * 32],
    # The ids of those that there are come to it.
    "webhook": ["wh_0000000000000000"]}


class Values:
    """Values of a schema, hostile ones among them."""

    def __init__(self, random, document):
        self.random = random
        self.schemas = document["components"]["schemas"]
        # Made once: a mark costs more than all the rest of a request.
        self.odd = [self.marks() for _ in range(2000)]

    def marks(self):
        """Some marks of all of Unicode."""
        r = self.random
        return "".join(
            chr(r.choice((r.randrange(128), r.randrange(0x800), r.randrange(0xd800),
                          r.randrange(0x10000, 0x110000)))) for _ in range(r.randrange(30)))

    def is_hostile(self):
        return self.random.random() < 0.25

    def text(self):
        """Some text that nobody expects."""
        r = self.random
        kind = r.randrange(6)
        if kind == 0:
            return str(r.choice(NUMBERS))
        if kind == 1:
            return r.choice(NUMBER_TEXTS)
        if kind == 2:
            return r.choice(INSTANTS)
        if kind == 3:
            return r.choice("a-x,.:/é") * r.choice(LENGTHS)
        if kind == 4:
            return r.choice(self.odd)
        return r.choice(TEXTS)

    def anything(self, depth=0):
        """A JSON value of any type."""
        r = self.random
        kind = r.randrange(9 if depth < 4 else 6)
        if kind == 0:
            return None
        if kind == 1:
            return r.choice([True, False])
        if kind == 2:
            return r.choice(NUMBERS)
        if kind in (3, 4):
            return self.text()
        if kind == 5:
            return r.choice([0.5, -1e300, 1e-300, 12345678901234567890.5])
        if kind == 6:
            return [self.anything(depth + 1) for _ in range(r.choice([0, 1, 2, 3, 40]))]
        if kind == 7:
            return {self.text()[:200]: self.anything(depth + 1) for _ in range(r.randrange(6))}
        value = self.anything(depth + 1)
        for _ in range(r.choice([5, 60, 64, 65, 66, 200])):
            value = [value] if r.random() < 0.5 else {"a": value}
        return value

    def of(self, schema, name=None, depth=0):
        """A value of a schema; now and then another one."""
        r = self.random
        if self.is_hostile() and r.random() < 0.5:
            return self.anything()
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
        for words in ("anyOf", "oneOf"):
            if words in schema:
                return self.of(r.choice(schema[words]), name, depth)
        if "enum" in schema:
            return r.choice(schema["enum"])
        kind = schema.get("type")
        kind = r.choice(kind) if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema:
            if "properties" not in schema and depth == 0:
                return catalog(self)
            return self.object(schema, depth)
        if kind == "array":
            count = r.choice([0, 1, 2, 3, 30])
            return [self.of(schema.get("items", {}), name, depth + 1) for _ in range(count)]
        if kind in ("integer", "number"):
            return r.choice([schema.get("minimum", 0), schema.get("maximum", 9), r.choice(NUMBERS)])
        if kind == "boolean":
            return r.choice([True, False])
        if name in KNOWN and not self.is_hostile():
            return r.choice(KNOWN[name])
        if "date" in schema.get("format", ""):
            return r.choice(INSTANTS)
        return self.text()

    def object(self, schema, depth):
        r = self.random
        required = schema.get("required", [])
        value = {
            name: self.of(member, name, depth + 1)
            for name, member in schema.get("properties", {}).items()
            if (name in required and r.random() < 0.95) or r.random() < 0.5}
        if self.is_hostile():
            for _ in range(r.choice([1, 1, 3, 40, 300])):
                value[self.text()[:100]] = r.choice([None, 1, "x"])
        return value


def catalog(values):
    """A catalog, or something like one."""
    r = values.random

    def usually(fitting, *others):
        return r.choice(others) if r.random() < 0.06 else fitting

    tiers = ["free", "plus", "pro"][:r.randrange(1, 4)]
    features = [{"id": name, "level": r.choice(tiers)} for name in ("open", "sync", "export")]
    if r.random() < 0.3:
        features[0]["limits"] = {"free": r.choice([
            {"perUse": {"amount": usually(60, *NUMBERS), "unit": "seconds"}},
            {"perPeriod": {"count": usually(3, *NUMBERS), "period": usually("week", "day", "month", "x"),
                           "timeZone": usually("Asia/Taipei", "UTC", "Nowhere/None", values.text())}}])}
    document = {
        "tiers": tiers, "features": features,
        "products": [
            {"id": "month", "kind": usually("auto_renewable", "consumable", "x"),
             "stores": {usually("app_store", "a b", "play_store"): ["m1", usually("m2", values.text())]},
             "texts": {r.choice(["en", "zh-Hant", values.text()[:90]]): {"title": "x"}},
             "unlocks": r.choice([{"tier": tiers[-1]}, {"all": True}, {"features": ["sync"]}])}],
        "trials": [{"id": "week", "days": usually(7, *NUMBERS), "tier": tiers[-1]}],
        "experiments": [{"id": "e", "variants": [
            {"id": str(number), "weight": usually(1, *NUMBERS), "overrides": {
                "features": [{"id": "sync", "level": tiers[0]}]}} for number in range(usually(2, 0, 1, 101))]}],
        "policy": {"renewalLeewaySeconds": usually(0, *NUMBERS)}}
    places = [document, features[0], document["products"][0], document["trials"][0]]
    for _ in range(r.choice([0, 0, 0, 1, 2])):
        place = r.choice(places)
        place[r.choice([*place, "timeZones", "offerings", values.text()[:50]])] = values.anything()
    if r.random() < 0.05:
        document["tiers"] = ["t%d" % number for number in range(r.choice([30, 300, 3000]))]
    return document


def encoded(text):
    """A part of a URL, encoded; now and then not quite."""
    return urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe="")


def body(values, schema):
    """The bytes of a body; now and then they are no JSON."""
    r = values.random
    value = values.of(schema)
    if "patternProperties" in schema or "A catalog" in json.dumps(schema)[:200]:
        value = catalog(values)
    data = json.dumps(value, ensure_ascii=r.random() < 0.5).encode("utf-8", "surrogatepass")
    if r.random() < 0.1 and data:
        kind = r.randrange(5)
        place = r.randrange(len(data))
        if kind == 0:
            data = data[:place]
        elif kind == 1:
            data = data[:place] + bytes([r.randrange(256)]) + data[place + 1:]
        elif kind == 2:
            data = data + data
        elif kind == 3:
            data = r.choice(NUMBER_TEXTS).encode("utf-8", "surrogatepass")
        else:
            data = b"[" * r.choice([10, 64, 65, 1000, 60_000])
    return data


class Requests:
    """Endless requests of a description."""

    def __init__(self, random, document, credentials):
        self.random = random
        self.values = Values(random, document)
        self.credentials = credentials
        self.made = []
        self.operations = [
            (method.upper(), path, operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            # Each takes a process, or reads the whole log; a stream ends only when its reader does.
            if path not in ("/v1/audit", "/v1/doctor", "/v1/drift", "/v1/export", "/v1/rebuild", "/v1/replay",
                            "/v1/verify",
                            "/v1/events/stream", "/ofrep/v1/changes")]

    def next(self):
        """Method, and the bytes of a request; each is sent by some who ask."""
        if not self.made:
            method, head, data = self.make()
            for credential in self.random.sample(self.credentials, min(4, len(self.credentials))):
                line = credential + "\r\n" if credential else ""
                self.made.append((method, (head + line + "\r\n").encode(
                    "utf-8", "surrogatepass") + data))
        return self.made.pop()

    def make(self):
        """Method, head without a credential, and body of a request."""
        r = self.random
        method, template, operation = r.choice(self.operations)
        path, query, headers = template, [], []
        for parameter in operation.get("parameters", []):
            name, place = parameter["name"], parameter["in"]
            # Whoever is removed is asked nothing any more.
            is_kept = (method, name) == ("DELETE", "webhook")
            value = self.values.of(parameter["schema"], None if is_kept else name)
            text = value if isinstance(value, str) else json.dumps(value)
            if place == "path":
                part = encoded(text[:2000]) if name != "place" else encoded(text).replace("%2F", "/")
                path = path.replace("{%s}" % name, part)
            # A sequence that the log has not keeps the connection waiting for two seconds.
            elif r.random() < (0.9 if parameter.get("required") else
                               0.002 if name == "Ledger-Min-Sequence" else 0.25):
                if place == "query":
                    query.append("%s=%s" % (encoded(name), encoded(text[:2500])))
                else:
                    headers.append((name, text))
        if self.values.is_hostile() and r.random() < 0.3:
            query.append("%s=%s" % (encoded(self.values.text()), encoded(self.values.text())))
        data = None
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            data = body(self.values, content["schema"])
        if r.random() < 0.03:
            method = r.choice(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
        return self.message(method, path + ("?" + "&".join(query) if query else ""), headers, data)

    def message(self, method, target, headers, data):
        r = self.random
        lines = ["%s %s HTTP/1.1" % (method, target[:7500]), "Host: fuzz"]
        for name in ("Accept", "Accept-Language", "If-None-Match", "Range", "Forwarded",
                     "X-Forwarded-For", "Content-Type", "X-RevenueCat-Webhook-Signature"):
            if r.random() < 0.05:
                headers.append((name, r.choice([
                    self.values.text(), "*", "text/csv;q=0.%s" % r.choice(NUMBERS), "a," * 300,
                    "t=%d,v1=%s" % (r.choice(NUMBERS), "0" * 64), "bytes=0-%d" % r.choice(NUMBERS)])))
        for name, text in headers:
            clean = "".join(mark for mark in text if mark not in "\r\n\0")[:3000]
            lines.append("%s: %s" % (name, clean))
        if data is not None:
            lines.append("Content-Length: %d" % len(data))
        return method, "\r\n".join(lines) + "\r\n", data or b""
