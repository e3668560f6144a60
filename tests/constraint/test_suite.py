"""Structured output against the JSON-Schema-Test-Suite: test_suite.py WALKER

TANDEM_SCHEMA_SUITE names the source archive of the Python package jsonschema, which brings the suite; ./test fetches it. A schema is either refused, with a
reason, or each of its instances is taken and refused as the suite says. Where docs/structured-output.md says that fewer texts are
written than the schema allows (an integer as 1.0, formats, a vocabulary that does not validate), the instance may be refused."""
import collections
import json
import os
import sys
import tarfile

from harness import Walker, expect, failures, spellings

FOLDER = "/json/tests/draft2020-12/"


def groups(archive):
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda m: m.name):
            if FOLDER in member.name and member.name.endswith(".json") and "/optional/" not in member.name:
                for group in json.load(tar.extractfile(member)):
                    yield member.name.split(FOLDER)[1].removesuffix(".json"), group


def has_point(text):
    """Whether a number in the text is an integer written with a decimal point, or the other way round."""
    found = []
    json.loads(text, parse_float=lambda number: found.append(float(number).is_integer()))
    return any(found)


def may_be_narrower(keyword, schema, text):
    constants = json.dumps([schema.get(k) for k in ("const", "enum")]) if isinstance(schema, dict) else "null"
    return keyword in ("format", "vocabulary") or has_point(text) or has_point(constants)


def main():
    walker = Walker(sys.argv[1], os.path.join(os.environ["TANDEM_MODELS"], "SmolLM2-135M-Instruct.Q4_1.gguf"))
    refused, checked, narrower = collections.Counter(), collections.Counter(), 0
    for keyword, group in groups(os.environ["TANDEM_SCHEMA_SUITE"]):
        spec = {"kind": "schema", "text": json.dumps(group["schema"])}
        first = walker.ask(spec=spec, accept=[])
        if "error" in first:
            refused[keyword, first["error"]["code"]] += 1
            continue
        for test in group["tests"]:
            texts = spellings(test["data"])
            for text, ways in zip(texts, walker.ask(spec=spec, accept=texts)["accepted"]):
                checked[keyword] += 1
                if test["valid"] and not any(ways) and may_be_narrower(keyword, group["schema"], text):
                    narrower += 1
                    continue
                fits = all(ways) if test["valid"] else not any(ways[1:])
                expect(fits, keyword, group["description"], "|", test["description"], group["schema"], text, ways, test["valid"])
    print(sum(checked.values()), "instances checked of", len(checked), "keywords,", narrower, "of them refused though valid;",
          sum(refused.values()), "schemas refused")
    for (keyword, code), number in sorted(refused.items()):
        print(f"  refused {keyword}: {number} {code}")
    return 1 if failures or sum(checked.values()) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
