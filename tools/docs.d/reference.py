#!/usr/bin/env python3
"""Writes the pages of the reference: tools/docs.d/reference.py ENTITLE FOLDER

Commands come from what `ENTITLE` says of itself, configuration from the list of its settings, calls from the
description that its server gives, events and catalogs from their schemas, examples from the page FirstLedger. Nothing
is written by hand, so nothing is written twice.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from harness.command import Tool
from harness.server import Server
from harness.start import ROOT

SCHEMAS = os.path.join(ROOT, "schemas")
PAGE = "Sources/EntitlementLedger/EntitlementLedger.docc/FirstLedger.md"
SETTINGS = "Sources/LedgerOperations/Configuration/Setting.swift"
# Options of every command that works on a ledger: listed once.
COMMON = {"ledger", "json", "environment", "key-file", "key-fd", "key-command", "accept-clock", "help", "version"}


def text(value):
    """A cell or a sentence: one line, nothing in it that Markdown would read."""
    return re.sub(r"\s+", " ", value or "").replace("|", "\\|").replace("<", "\\<").replace("``", "`").strip()


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


# Commands


def option(argument):
    """How an argument is written, and what it does."""
    value = argument.get("valueName")
    if argument["kind"] == "positional":
        shown = f"<{value}>" + (" …" if argument["isRepeating"] else "")
    else:
        names = ["-" * (2 if name["kind"] == "long" else 1) + name["name"] for name in argument["names"]]
        shown = ", ".join(names) + (f" <{value}>" if argument["kind"] == "option" else "")
    means = text(argument.get("abstract"))
    if argument.get("defaultValue") and "default" not in means:
        means += f" Default: `{argument['defaultValue']}`."
    return ["`" + shown.replace("|", "\\|") + "`", means or "—"]


def is_common(argument):
    return argument["kind"] != "positional" and argument["preferredName"]["name"] in COMMON


def examples(page):
    """The first lines of a page's examples, by the command and subcommand that they show."""
    found = {}
    for block in re.findall(r"```console\n(.*?)```", page, re.S):
        for shown in re.split(r"(?m)^(?=\$ )", block):
            match = re.match(r"\$ (entitle ((?:[a-z-]+)(?: [a-z-]+)?).*)", shown)
            if match and "|" not in match[1] and "&" not in match[1]:
                words = match[2].split(" ")
                for name in (" ".join(words), words[0]):
                    found.setdefault(name, shown.strip())
    return found


def command_lines(command, path, shown):
    lines = [f"## {path}", "", text(command.get("abstract"))]
    said, _, typed = command.get("discussion", "").partition("EXAMPLES:\n")
    for paragraph in said.split("\n\n"):
        if paragraph.strip():
            lines += ["", text(paragraph)]
    parts = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help"]
    arguments = [
        argument
        for argument in command.get("arguments", [])
        if argument.get("shouldDisplay", True) and not is_common(argument)
    ]
    if arguments and not parts:
        lines += ["", *table(["argument", "means"], [option(argument) for argument in arguments])]
    example = shown.get(path) or "\n".join(line.strip() for line in typed.splitlines())
    if example:
        lines += ["", "```console", example, "```"]
    lines.append("")
    for part in parts:
        lines += command_lines(part, f"{path} {part['commandName']}", shown)
    return lines


def commands(entitle, page):
    command = json.loads(subprocess.run([entitle, "--experimental-dump-help"], capture_output=True, check=True).stdout)["command"]
    parts = [sub for sub in command["subcommands"] if sub["commandName"] != "help"]
    shown = examples(page)
    common = {}
    for part in parts:
        for argument in part.get("arguments", []):
            if is_common(argument):
                common.setdefault(argument["preferredName"]["name"], option(argument))
    lines = ["# Commands", "", "Every command of `entitle`, as it says of itself.", "", "## Options of every command", ""]
    lines += ["What is of the master key or the clock is of commands that open a ledger.", "", *table(["option", "means"], [common[name] for name in sorted(common)]), ""]
    for part in parts:
        lines += command_lines(part, part["commandName"], shown)
    return lines


# Configuration


def settings():
    """What the list of settings says of each: a variable, a member of the file, what it means."""
    with open(os.path.join(ROOT, SETTINGS), encoding="utf-8") as file:
        source = file.read()
    found = {}
    for comment, member in re.findall(r"((?:^ *///.*\n)+) *case (\w+)$", source, re.M):
        variable = "ENTITLE_" + re.sub("([A-Z])", r"_\1", member).upper()
        means = re.sub(r"^ *///", "", comment, flags=re.M)
        found[variable] = [f"`{variable}`", f"`{member}`", text(means)]
    if len(found) != len(re.findall(r"^ *case \w+$", source, re.M)):
        sys.exit(f"{SETTINGS}: a setting without a comment")
    # These two are secrets or lead to them: no file may hold them.
    for variable in ("ENTITLE_KEY", "ENTITLE_KEY_COMMAND"):
        found[variable][1] = "—"
    return [found[variable] for variable in sorted(found)]


def configuration():
    lines = ["# Configuration", "", "What flags do not say: variables, then the configuration file.", ""]
    lines += ["## Where it is read", ""]
    lines += ["A flag goes before a variable, a variable before the file that `ENTITLE_CONFIG` names (else `./entitle.json`), "
              "the file before the default. The file is one JSON object.", ""]
    lines += ["## Settings", "", *table(["variable", "member of the file", "means"], settings()), ""]
    lines += ["## Example", "", "```json", '{"ledger": "/var/lib/entitle", "host": "0.0.0.0", "limits": "keys=60000/60,customers=600/60"}', "```"]
    return lines


# Calls


def description(entitle):
    """What a server that has nothing says of itself."""
    with tempfile.TemporaryDirectory() as folder, Server(Tool(entitle, folder)) as server:
        _, _, document = server.ask("GET", "/openapi.json")
        server.stop()
    return document


def type_of(schema):
    """What type a schema says, in a word."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            types = [type_of(part) for part in schema[key]]
            return " or ".join(part for part in types if part != "null") + (" or null" if "null" in types else "")
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join("list" if one == "array" else one for one in kind)
    if kind == "array":
        return "list of " + type_of(schema.get("items") or {})
    return {"string": "text", "object": "object"}.get(kind, kind)


def calls(entitle):
    document = description(entitle)
    lines = ["# Calls", "", "Every call of the HTTP interface, as the server describes it at `/openapi.json`.", ""]
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            if method not in ("get", "post", "put", "patch", "delete"):
                continue
            lines += [f"## {method.upper()} {path}", "", text(call.get("summary") or call.get("description")), ""]
            who = [text(call["description"])] if call.get("summary") and call.get("description") else []
            lines += who + [""] * bool(who)
            parameters = [
                [f"`{one['name']}`", one["in"], type_of(one.get("schema", {})), text(one.get("description")) or "—"]
                for one in call.get("parameters", [])
            ]
            if parameters:
                lines += [*table(["parameter", "in", "type", "means"], parameters), ""]
            body = call.get("requestBody", {}).get("content", {})
            if body:
                kinds = ", ".join(f"`{kind}` ({type_of(media.get('schema', {}))})" for kind, media in body.items())
                lines += [f"Body: {kinds}.", ""]
            answers = [[status, text(answer.get("description")) or "—"] for status, answer in call["responses"].items()]
            lines += [*table(["answer", "means"], answers), ""]
    return lines


# Events and catalogs


def schema(name):
    with open(os.path.join(SCHEMAS, name), encoding="utf-8") as file:
        return json.load(file)


def members(properties, required, outer=""):
    """A row for each member, those inside of objects, lists and maps behind their own."""
    rows = []
    for name, member in properties.items():
        path = outer + name
        means = text(member.get("description"))
        rows.append([f"`{path}`" + ("" if name in required else "?"), type_of(member), means or "—"])
        inner, inside = within(member)
        if "properties" in inner:
            rows += members(inner["properties"], inner.get("required", []), path + inside + ".")
    return rows


def within(schema):
    """The object that stands in lists and maps, or where null may stand, and what leads to it."""
    path = ""
    while schema and "properties" not in schema:
        if "anyOf" in schema:
            schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
        elif schema.get("type") == "array":
            schema, path = schema.get("items") or {}, path + "[]"
        else:
            schema, path = schema.get("additionalProperties") or {}, path + ".*"
    return schema, path


def events():
    document = schema("event.schema.json")
    fields = document["$defs"]["fields"]
    lines = ["# Events", "", text(document["description"]), "", "## Attributes", ""]
    lines += [*table(["attribute", "type", "means"], members(document["properties"], document["required"])), ""]
    for rule in document["allOf"]:
        kind = rule.get("if", {}).get("properties", {}).get("type", {}).get("const")
        if not kind:
            continue
        then = rule["then"]["properties"]
        data = then.get("data", {})
        subject = then.get("subject", {})
        about = re.sub(r"[\^$].*|/.*", "", subject.get("pattern", "").lstrip("^")) or subject.get("const", "")
        lines += [f"## {kind}", ""] + ([f"About a {about}.", ""] if re.fullmatch("[a-z]+", about) else [])
        rows = [
            [f"`{name}`" + ("" if name in data.get("required", []) else "?"), type_of(fields.get(name, {})),
             text(fields.get(name, {}).get("description")) or "—"]
            for name in data.get("properties", {})
        ]
        lines += table(["field", "type", "means"], rows) + [""] if rows else []
    return lines


def catalog():
    document = schema("catalog.schema.json")
    whole = document["$defs"]["document"]
    lines = ["# Catalogs", "", text(document["description"]), "", "What each rule makes of them is <doc:Model>.", ""]
    rows = members(whole["properties"], whole["required"])
    lines += ["## Members", "", *table(["member", "type", "means"], rows), ""]
    folder = os.path.join(SCHEMAS, "examples", "catalogs")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            lines += [f"## Example: {name.removesuffix('.json')}", "", "```json", file.read().rstrip(), "```", ""]
    return lines


def main(entitle, folder):
    entitle = os.path.abspath(entitle)
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        page = file.read()
    pages = {
        "Commands": commands(entitle, page),
        "Configuration": configuration(),
        "Calls": calls(entitle),
        "Events": events(),
        "Catalogs": catalog(),
    }
    for name, lines in pages.items():
        # An empty page is a reference that has lost what it speaks of.
        assert sum(line.startswith("## ") for line in lines) >= 3, name
        with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
