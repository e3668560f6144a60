"""tandem-cli run with a form for the answer: it has it, drafts do not change it, and what cannot be is refused."""

import json
import re

import client

QUESTION = "Describe a person called Ann who is 31 and lives in Rome, as JSON."
PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0,
          "maximum": 120}, "city": {"enum": ["Rome", "Oslo"]}}, "required": ["name", "age", "city"], "additionalProperties": False}
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {
    "city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": False}}}, {"name": "stop"}]


class Forms(client.CliTest):
    def text(self, *arguments):
        answer = self.good_json("run", "-p", QUESTION, *arguments)
        self.assertEqual(answer["stats"]["finish"], "stop")
        return answer["text"]

    def test_schema(self):
        schema = self.write("person.json", json.dumps(PERSON))
        plain = self.text("--json-schema", schema, "-n", "60", "--spec", "off")
        person = json.loads(plain)
        self.assertEqual(set(person), {"name", "age", "city"})
        self.assertIn(person["city"], ("Rome", "Oslo"))
        self.assertLessEqual(len(person["name"]), 12)
        for drafters in ("own-text", "wrong", "random", "auto"):
            self.assertEqual(self.text("--json-schema", schema, "-n", "60", "--spec", drafters), plain)
        for seed in range(3):
            sampled = self.text("--json-schema", schema, "-n", "40", "--temp", "1.2", "--top-k", "40", "--seed", str(seed))
            self.assertEqual(set(json.loads(sampled)), {"name", "age", "city"})

    def test_the_other_forms(self):
        self.assertIsInstance(json.loads(self.text("--json-object", "-n", "50")), dict)
        self.assertRegex(self.text("--regex", "[A-Z][a-z]{2,9}, [0-9]{2}"), "^[A-Z][a-z]{2,9}, [0-9]{2}$")
        self.assertIn(self.text("--one-of", "Rome|Oslo|New York"), ("Rome", "Oslo", "New York"))
        grammar = self.write("grammar", 'root ::= word ("-" word){2}\nword ::= [a-z]{1,6}\n')
        self.assertRegex(self.text("--grammar", grammar), "^[a-z]{1,6}-[a-z]{1,6}-[a-z]{1,6}$")

    def test_tools(self):
        tools = self.write("tools.json", json.dumps(TOOLS))
        call = self.text("--tools", tools, "--tool-choice", "find")
        found = re.fullmatch(r"<tool_call>\n(.*)\n</tool_call>", call, re.S)
        self.assertEqual(json.loads(found[1])["name"], "find")
        self.assertIn(json.loads(found[1])["arguments"]["city"], ("Rome", "Oslo"))

    def test_refusals(self):
        def refused(*arguments):
            return self.bad("run", "-p", QUESTION, "-m", client.SMOLLM2, *arguments)

        schema = self.write("s.json", '{"type": "object", "properties": {"a": {"not": {}}}}')
        self.assertRegex(refused("--json-schema", schema), "not.*#/properties/a/not")
        self.assertIn("at least", refused("--json-schema", self.write("p.json", json.dumps(PERSON)), "-n", "5"))
        self.assertIn("cannot be met", refused("--regex", "[]"))
        self.assertIn("byte 2", refused("--regex", "a("))
        self.assertIn("Only one", refused("--regex", "a", "--one-of", "a|b"))
        self.assertIn("--tools", refused("--tool-choice", "f"))
        self.assertIn("no tool called", refused("--tools", self.write("t.json", json.dumps(TOOLS)), "--tool-choice", "f"))
        self.assertIn("missing", refused("--grammar", self.path("missing")))


if __name__ == "__main__":
    client.main()
