"""Structured output against an independent validator: test_schemas.py WALKER [MODEL]

Random answers that the masks allow must parse and satisfy their schema; values that satisfy it must be accepted, byte by
byte and in other cuts into tokens; values that do not must be refused. The walker is tests/constraint/walker.cpp."""
import json
import os
import re
import sys
import time

from cases import CASES, REFUSED
from harness import Walker, expect, failures, spellings
from validator import faults, no_constant, validator_of

WALKS = 8
def check_schema(walker, number, schema, valid, invalid):
    validator = validator_of(schema)
    spec = {"kind": "schema", "text": json.dumps(schema)}
    for value in valid:
        expect(validator.is_valid(value), number, "the case itself is wrong: valid", value)
    for value in invalid:
        expect(not validator.is_valid(value), number, "the case itself is wrong: invalid", value)
    answer = walker.ask(spec=spec, walks=WALKS, seed=number, tokens=60)
    if "error" in answer:
        expect(False, number, schema, answer)
        return 0
    for text in answer["texts"]:
        errors = faults(validator, text)
        expect(not errors, number, schema, text, errors)
    texts = [text for value in valid for text in spellings(value)]
    for text, ways in zip(texts, walker.ask(spec=spec, accept=texts, seed=number)["accepted"]):
        expect(all(ways), number, schema, "refused", text, ways)
    texts = [json.dumps(value) for value in invalid] + [text + " x" for text in texts[:2]] + [text[:-1] for text in texts[:2] if len(text) > 1 and text[-1] in '"}]']
    for text, ways in zip(texts, walker.ask(spec=spec, accept=texts, seed=number)["accepted"]):
        expect(not any(ways[1:]), number, schema, "accepted", text, ways)
    return len(answer["texts"])


def check_refused(walker, number, schema, code, field, word):
    text = schema if isinstance(schema, str) else json.dumps(schema)
    start = time.monotonic()
    error = walker.ask(spec={"kind": "schema", "text": text}).get("error")
    took = time.monotonic() - start
    expect(error is not None, "refused", number, text[:200], "was taken")
    if error:
        expect(error["code"] == code and error["field"].endswith(field) and word in error["message"], "refused", number,
               text[:200], error)
        expect(error["message"].endswith("."), "refused", number, "not a sentence", error)
    return took


def check_json_object(walker):
    spec = {"kind": "json"}
    for text in walker.ask(spec=spec, walks=200, tokens=60, seed=1)["texts"]:
        expect(isinstance(json.loads(text, parse_constant=no_constant), dict), "json", text)
    good = [text for value in ({}, {"a": [1, -2.5e3, -1.6e308, None, True, "x\n\"\\é😀", {"b": {}}]}, {"": {"": ""}}) for text in spellings(value)]
    bad = ["[]", "1", '{"a":}', '{"a" 1}', '{"a":1,}', '{a:1}', "{'a':1}", '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":NaN}',
           '{"a":"\t"}', '{"a":"\\x"}', '{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}', '{"a":1} {', '{"a":1.}', '{"a":tru}', "{}}", '{"a":1.798e308}']
    for text, ways in zip(good, walker.ask(spec=spec, accept=good)["accepted"]):
        expect(all(ways), "json refused", text, ways)
    for text, ways in zip(bad, walker.ask(spec=spec, accept=bad)["accepted"]):
        expect(not any(ways[1:]), "json accepted", text, ways)


REGEXES = [r"[a-c]{3,5}x?", r"(yes|no)(, (yes|no)){0,3}", r"\d{4}-\d{2}", r"[^\n\"]{0,20}!", r"é+😀?", r"a|", r"(a|b)*abb",
           r"^start.*end$", r"[\w-]+@\w+\.(org|com)", r"\x41\u0042[^\x00-\x7f]{1,2}"]


def check_regexes(walker):
    for number, regex in enumerate(REGEXES):
        answer = walker.ask(spec={"kind": "regex", "text": regex}, walks=30, tokens=25, seed=number)
        for text in answer.get("texts", [None]):
            expect(text is not None and re.fullmatch(regex, text, re.ASCII), "regex", regex, text, answer.get("error"))


GRAMMARS = {
    'root ::= "a" b* "c"\nb ::= [x-z] | "(" b ")" # nested\n': r"a[xyz()]*c",
    'root ::= (item ", "){2} item\nitem ::= "\\x41" | "é"\n': r"(A|é), (A|é), (A|é)",
    'root ::= expr\nexpr ::= term (("+" | "-") term)*\nterm ::= [0-9]+ | "(" expr ")"\n': r"[0-9+()-]+",
    'root ::=\n  "one"\n  | "two" .\n  | [^a-z]{,3}\n': r"(?s:one|two.|[^a-z]{0,3})",
    'root ::= [^"\\\\]{0,5000} "\\""\n': r'[^"\\]*"',
    'root ::= (x?){3} "!"\nx ::= "a"?': r"a{0,3}!",
}


def check_grammars(walker):
    for number, (grammar, regex) in enumerate(GRAMMARS.items()):
        answer = walker.ask(spec={"kind": "grammar", "text": grammar}, walks=30, tokens=25, seed=number)
        for text in answer.get("texts", [None]):
            expect(text is not None and re.fullmatch(regex, text), "grammar", grammar, text, answer.get("error"))
    bad = {'root ::= root "a" | "b"': "left recursion", "x ::= \"a\"": "root", "root ::= y": "not defined",
           'root ::= "a': "closing quote", "root ::= ( \"a\"": "parenthesis", "root = x": "::=", 'root ::= [a-': "bracket",
           'root ::= "a"\nroot ::= "b"': "twice", 'root ::= "\\q"': "escape", "root ::= " + "(" * 9000: "nested",
           'root ::= a\na ::= b "x"\nb ::= "y"? a': "left recursion", "root ::= a\na ::= \"x\" a": "cannot be met"}
    for grammar, word in bad.items():
        error = walker.ask(spec={"kind": "grammar", "text": grammar}).get("error", {"message": ""})
        expect(word in error["message"], "grammar", grammar[:60], error)


def check_tools(walker):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {
        "type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": False}}},
             {"name": "stop \"now\""}, {"name": "any", "parameters": {"type": "object"}}]
    spec = {"kind": "tools", "text": json.dumps(tools)}
    names = set()
    for calls in (1, 3):
        for text in walker.ask(spec=dict(spec, calls=calls), walks=60, tokens=200, seed=calls)["texts"]:
            found = re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text, re.S)
            expect(1 <= len(found) <= calls and text == "\n".join(f"<tool_call>\n{c}\n</tool_call>" for c in found), "tools", text)
            for call in found:
                call = json.loads(call)
                names.add(call["name"])
                arguments = call["arguments"]
                expect({"weather": arguments in ({"city": "Rome"}, {"city": "Oslo"}), 'stop "now"': arguments == {},
                        "any": isinstance(arguments, dict)}[call["name"]], "tools", text)
    expect(names == {"weather", 'stop "now"', "any"}, "tools", names)
    for text in walker.ask(spec=dict(spec, tool="weather"), walks=5, tokens=100)["texts"]:
        expect('"weather"' in text, "tools", text)
    expect("no tool called" in walker.ask(spec=dict(spec, tool="other"))["error"]["message"], "tools: an unknown name")
    expect("name" in walker.ask(spec={"kind": "tools", "text": "[{}]"})["error"]["message"], "tools: no name")


def main():
    model = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.environ["TANDEM_MODELS"], "SmolLM2-135M-Instruct.Q4_1.gguf")
    walker = Walker(sys.argv[1], model)
    expect(len(CASES) >= 200, "cases", len(CASES))
    texts = sum(check_schema(walker, number, *case) for number, case in enumerate(CASES))
    slowest = max(check_refused(walker, number, *case) for number, case in enumerate(REFUSED))
    expect(slowest < 5, "a refusal took", slowest)
    check_json_object(walker)
    check_regexes(walker)
    check_grammars(walker)
    check_tools(walker)
    print(f"{len(CASES)} schemas, {texts} random answers, {len(REFUSED)} refusals, the slowest in {slowest:.2f} s; {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
