#!/usr/bin/env python3
"""Looks for what a site's pages name: tools/docs.d/links.py SITE CATALOG

Every page of the catalog must be in the site, and every reference of every page must lead to one that is.
"""
import json
import os
import sys


def pages(folder, ending):
    return [
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(ending)
    ]


def main(site, catalog):
    data = os.path.join(site, "data")
    known = {"/" + os.path.relpath(path, data).removesuffix(".json").lower() for path in pages(data, ".json")}
    problems = []
    for page in pages(catalog, ".md"):
        name = os.path.splitext(os.path.basename(page))[0].lower()
        ways = {f"/documentation/entitlementledger/{name}", f"/documentation/{name}"}
        if not ways & known:
            problems.append(f"{page}: not in the site")
    count = 0
    for path in pages(data, ".json"):
        with open(path, encoding="utf-8") as file:
            page = json.load(file)
        for identifier, reference in page.get("references", {}).items():
            if reference.get("type") != "topic" or not reference.get("url", "").startswith("/"):
                continue
            count += 1
            if reference["url"].split("#")[0].lower() not in known:
                problems.append(f"{os.path.relpath(path, data)}: {identifier} leads nowhere")
    for problem in problems:
        print("docs: " + problem, file=sys.stderr)
    print(f"docs: {len(known)} pages, {count} references, {len(problems)} dead")
    return 1 if problems or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
