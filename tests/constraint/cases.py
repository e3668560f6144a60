"""Schemas for test_schemas.py: each with values that satisfy it and values that do not. And schemas that are refused.
Run as a program it prints the schemas, a line each, for session_constraint."""
import json


def obj(properties, required=(), **more):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False, **more}


TREE = {"$defs": {"node": obj({"value": {"type": "integer"}, "left": {"$ref": "#/$defs/node"},
                               "right": {"$ref": "#/$defs/node"}}, ["value"])}, "$ref": "#/$defs/node"}
LINKED = {"$ref": "#/$defs/list", "$defs": {"list": {"anyOf": [{"type": "null"}, obj(
    {"head": {"type": "string", "maxLength": 4}, "tail": {"$ref": "#/$defs/list"}}, ["head", "tail"])]}}}
NESTED_ARRAYS = {"type": "array", "items": {"$ref": "#"}}

# (schema, valid values, invalid values)
CASES = [
    # types
    ({}, [None, 1, "a", [], {"x": [1, {"y": None}]}], []),
    (True, [None, False, 1.5], []),
    ({"type": "null"}, [None], [0, False, ""]),
    ({"type": "boolean"}, [True, False], [0, "true", None]),
    ({"type": "integer"}, [0, -1, 7, 123456789012345678], [1.5, "1", None]),
    ({"type": "number"}, [0, -1.5, 1e10, 2.5e-7, 1e300, -4.9e-200], ["1", None, [1]]),
    ({"type": "string"}, ["", "abc", "\"quoted\" \\ / \n\t\u0001", "é ∑ 日本 😀"], [1, None]),
    ({"type": "array"}, [[], [1, "a", [None]]], [{}, "[]"]),
    ({"type": "object"}, [{}, {"a": 1, "b": {"c": []}}], [[], None]),
    ({"type": ["string", "null"]}, ["x", None], [1, []]),
    ({"type": ["integer", "array", "boolean"]}, [3, [], True], ["3", {}, 1.5]),
    ({"type": ["number", "object"]}, [3.25, {}], ["3", []]),
    # enum and const
    ({"enum": ["red", "green", "blue"]}, ["red", "green", "blue"], ["yellow", "gree", "", None]),
    ({"enum": [1, 2.5, True, None, "x", [1, 2], {"a": {"b": []}}]}, [1, 2.5, True, None, "x", [1, 2], {"a": {"b": []}}],
     [2, False, "y", [1], {"a": {}}]),
    ({"enum": ["a", "ab", "abc", "b"]}, ["a", "ab", "abc", "b"], ["ac", "abcd"]),
    ({"enum": ["naïve", "日本", "😀", "tab\tquote\"", "\\", "a/b"]}, ["naïve", "日本", "😀", "tab\tquote\"", "\\", "a/b"],
     ["naive"]),
    ({"const": {"x": [1, "2"]}}, [{"x": [1, "2"]}], [{"x": [1]}, {}]),
    ({"const": None}, [None], [0]),
    ({"type": "string", "enum": ["a", 1, None]}, ["a"], [1, None]),
    ({"type": "integer", "enum": [1, 2, 3, 4, 5], "minimum": 2, "exclusiveMaximum": 5}, [2, 3, 4], [1, 5]),
    ({"enum": ["a", "bb", "ccc"], "maxLength": 2, "minLength": 2}, ["bb"], ["a", "ccc"]),
    ({"enum": ["x1", "y2", "x3"], "pattern": "^x"}, ["x1", "x3"], ["y2"]),
    ({"enum": [[1], [1, 2], ["a"]], "items": {"type": "integer"}, "minItems": 2}, [[1, 2]], [[1], ["a"]]),
    ({"enum": [{"a": 1}, {"b": 2}, {"a": "x"}], "required": ["a"], "properties": {"a": {"type": "integer"}}}, [{"a": 1}],
     [{"b": 2}, {"a": "x"}]),
    # strings
    ({"type": "string", "minLength": 3}, ["abc", "日本語", "😀😀😀", "abcdef"], ["", "ab", "😀😀"]),
    ({"type": "string", "maxLength": 3}, ["", "abc", "😀😀😀", "\n\n\n"], ["abcd", "😀😀😀😀"]),
    ({"type": "string", "minLength": 2, "maxLength": 2}, ["ab", "é\"", "\\\\"], ["a", "abc"]),
    ({"type": "string", "minLength": 30, "maxLength": 400}, ["x" * 30, "y" * 400], ["x" * 29, "y" * 401]),
    ({"type": "string", "maxLength": 0}, [""], ["a"]),
    ({"type": "string", "pattern": "^[a-z]{2,4}$"}, ["ab", "abcd"], ["a", "abcde", "AB"]),
    ({"type": "string", "pattern": "[0-9]"}, ["a1", "9", "日5本"], ["", "abc"]),
    ({"type": "string", "pattern": "^(foo|bar)+$"}, ["foo", "barfoo"], ["", "fo", "foobarb"]),
    ({"type": "string", "pattern": "^a"}, ["a", "abc"], ["ba", ""]),
    ({"type": "string", "pattern": "z$"}, ["z", "az"], ["za", ""]),
    ({"type": "string", "pattern": "^$|^ab$"}, ["", "ab"], ["a", "abab"]),
    ({"type": "string", "pattern": "^[^a-y]*$", "maxLength": 5}, ["", "zzz", "é\n\"", "ZZ"], ["a", "zzzzzz"]),
    ({"type": "string", "pattern": "^[éèà😀日]+$"}, ["é", "😀日"], ["e", ""]),
    ({"type": "string", "pattern": "^[\\x00-\\x1f\"\\\\]{1,3}$"}, ["\"", "\n", "\\\"\u0001"], ["a", ""]),
    ({"type": "string", "pattern": "^\\d{3}-\\d{4}$"}, ["555-1234"], ["5551234", "555-12345"]),
    ({"type": "string", "pattern": "^\\w+\\s\\w+$", "maxLength": 12}, ["ab cd"], ["abcd", "a b c"]),
    ({"type": "string", "pattern": "^(?:a{2,3}?|b*)c$"}, ["aac", "aaac", "c", "bbc"], ["ac", "abc"]),
    ({"type": "string", "pattern": "^(?<year>[0-9]{4})$"}, ["2024"], ["24"]),
    ({"type": "string", "pattern": "^\\u00e9\\u{1F600}\\x41$"}, ["é😀A"], ["eA"]),
    ({"type": "string", "pattern": "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$", "maxLength": 20}, ["a.b@c-d.org"], ["a@b", "@c.de"]),
    ({"type": "string", "pattern": "a.c", "maxLength": 6}, ["abc", "xxa😀c"], ["ac", "a\nc"]),
    ({"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "b$"}, {"minLength": 3, "maxLength": 4}]}, ["aab", "axxb"],
     ["ab", "aaab_", "aaaab"]),
    # numbers
    ({"type": "integer", "minimum": 0}, [0, 5, 1000], [-1]),
    ({"type": "integer", "maximum": -5}, [-5, -60], [-4, 0, 5]),
    ({"type": "integer", "minimum": -3, "maximum": 12}, list(range(-3, 13)), [-4, 13, 100]),
    ({"type": "integer", "exclusiveMinimum": 9, "exclusiveMaximum": 101}, [10, 99, 100], [9, 101, 1000]),
    ({"type": "integer", "minimum": 17, "maximum": 17}, [17], [16, 18]),
    ({"type": "integer", "minimum": 1.5, "maximum": 3.5}, [2, 3], [1, 4]),
    ({"type": "integer", "minimum": 1000000007, "maximum": 2000000011}, [1000000007, 1999999999, 2000000011],
     [1000000006, 2000000012]),
    ({"type": "integer", "multipleOf": 7}, [0, 7, -14, 700], [1, 8]),
    ({"type": "integer", "multipleOf": 6, "minimum": 10, "maximum": 40}, [12, 18, 24, 30, 36], [6, 42, 13]),
    ({"type": "number", "multipleOf": 25}, [0, 25, -50], [5, 26]),
    ({"type": "number", "minimum": 0, "maximum": 1}, [0, 1, 0.5, 0.001, 0.999], [-0.1, 1.1, 2]),
    ({"type": "number", "exclusiveMinimum": 9007199254740992, "exclusiveMaximum": 9007199254740996}, [9007199254740994],
     [9007199254740992, 9007199254740996]),
    ({"type": "number", "minimum": 0, "maximum": 9007199254740991}, [0, 19.99, 1700000000.12345, 9007199254740991], [-1]),
    ({"type": "number", "minimum": 0.12345678901234568, "exclusiveMaximum": 0.3}, [0.12345678901234568, 0.2, 0.29999999999999], [0.3, 0.1]),
    ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5, 0.01], [0, 1, -0.5]),
    ({"type": "number", "minimum": -2.75, "maximum": 10.125}, [-2.75, -2, 0, 10.125, 10.1, -0.5], [-2.76, -3, 10.126, 11]),
    ({"type": "number", "exclusiveMinimum": -0.5}, [-0.49, 0, 12.5], [-0.5, -1]),
    ({"type": "number", "exclusiveMaximum": 0}, [-1, -0.25], [0, 0.5]),
    ({"type": "number", "minimum": 99.95}, [99.95, 100, 5000.5], [99.94, 9]),
    ({"type": "number", "maximum": 1e3}, [1000, 999.9, -5], [1000.5, 1001]),
    ({"type": "number", "minimum": 1e-3, "maximum": 0.05}, [0.001, 0.05, 0.0123], [0.0009, 0.051, 1]),
    ({"minimum": 5, "type": ["integer", "string"]}, [5, "x"], [4, None]),
    # arrays
    ({"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["a"], [1, None]]),
    ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [[True, False], [True] * 5], [[], [True]]),
    ({"type": "array", "items": {"type": "null"}, "maxItems": 2}, [[], [None], [None, None]], [[None] * 3]),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}, [[1, 2, 3]], [[1, 2], [1, 2, 3, 4]]),
    ({"type": "array", "maxItems": 0}, [[]], [[1]]),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, [[], [1], [1, "a"]],
     [["a"], [1, 2], [1, "a", 3]]),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"}, "minItems": 2},
     [[1, "a"], [1, "a", None, None]], [[1], [1, "a", 2]]),
    ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}, {"const": 3}], "minItems": 1, "maxItems": 2},
     [[1], [1, 2]], [[], [2], [1, 2, 3]]),
    ({"type": "array", "prefixItems": [{"type": "integer"}, False]}, [[], [1]], [[1, 2]]),
    ({"type": "array", "items": {"type": "array", "items": {"enum": [0, 1]}, "minItems": 2, "maxItems": 2}, "maxItems": 3},
     [[], [[0, 1], [1, 1]]], [[[0]], [[0, 2]]]),
    ({"type": "array", "items": {"type": "string", "maxLength": 2}, "minItems": 1, "maxItems": 40}, [["ab"] * 40], [["ab"] * 41]),
    ({"type": "array", "uniqueItems": False, "items": {"type": "integer"}}, [[1, 1]], ["x"]),
    # objects
    (obj({"a": {"type": "integer"}}), [{}, {"a": 1}], [{"b": 1}, {"a": "x"}]),
    (obj({"a": {"type": "integer"}, "b": {"type": "string"}}, ["a", "b"]), [{"a": 1, "b": "x"}, {"b": "y", "a": 2}],
     [{"a": 1}, {"b": "x"}, {}]),
    ({"type": "object", "required": ["x", "y"]}, [{"x": 1, "y": None}, {"z": 0, "y": 1, "x": 2}], [{"x": 1}, {}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"p": 1, "q": 2}], [{"p": "x"}]),
    ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
     [{"a": "x", "b": 1}, {"b": 2}], [{"a": 1}, {"b": "x"}]),
    ({"type": "object", "properties": {"a": {"type": "null"}}}, [{"a": None}, {"c": [1]}], [{"a": 1}]),
    ({"type": "object", "properties": {"a": False, "b": {"type": "integer"}}}, [{"b": 1}, {"c": 1}], [{"a": 1}]),
    ({"type": "object", "patternProperties": {"^n_": {"type": "integer"}, "_s$": {"type": "string"}},
      "additionalProperties": False}, [{"n_a": 1, "b_s": "x"}, {}], [{"n_a": "x"}, {"other": 1}, {"n_s": 1}]),
    ({"type": "object", "patternProperties": {"^x": {"minimum": 3}, "y$": {"maximum": 5, "type": "integer"}},
      "properties": {"xy": {"multipleOf": 2}}, "additionalProperties": {"type": "null"}},
     [{"xy": 4}, {"xa": 3.5}, {"by": -1}, {"xzy": 5}, {"q": None}], [{"xy": 3}, {"xa": 1}, {"xzy": 6}, {"q": 1}]),
    ({"type": "object", "propertyNames": {"pattern": "^[a-z]{1,3}$"}}, [{"ab": 1}, {}], [{"AB": 1}, {"abcd": 1}]),
    ({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}},
     [{"a": 1, "b": 2}], [{"c": 1}]),
    ({"type": "object", "propertyNames": {"maxLength": 2}, "properties": {"long": {}, "ok": {"type": "null"}}},
     [{"ok": None}], [{"long": 1}, {"ok": 1}]),
    (obj({"a": {}, "b": {}, "c": {}}, minProperties=2), [{"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}], [{"a": 1}, {}]),
    (obj({"a": {}, "b": {}, "c": {}}, maxProperties=1), [{"a": 1}, {}], [{"a": 1, "b": 2}]),
    ({"type": "object", "maxProperties": 2, "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "b": 2}],
     [{"a": 1, "b": 2, "c": 3}]),
    ({"type": "object", "minProperties": 1}, [{"a": 1}], [{}]),
    ({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 3, "maxProperties": 3},
     [{"a": 1, "b": 2, "x": 3}, {"c": 1, "b": 2, "a": 3}], [{"a": 1, "x": 2}, {"a": 1, "b": 2, "x": 3, "y": 4}]),
    (obj({"a": {"const": 1}, "b": {"const": 2}}, ["a"], minProperties=2, maxProperties=2), [{"a": 1, "b": 2}], [{"a": 1}]),
    (obj({"schlüssel": {"type": "integer"}, "日本": {"type": "integer"}, "q\"uo\\te": {"type": "null"}}, ["schlüssel"]),
     [{"schlüssel": 1, "日本": 2}, {"schlüssel": 1, "q\"uo\\te": None}], [{"日本": 2}]),
    (obj({"": {"type": "integer"}, "a/b": {"type": "null"}, "~": {"type": "null"}}), [{"": 1, "a/b": None, "~": None}],
     [{"": "x"}]),
    (obj({f"k{i}": {"type": "integer"} for i in range(70)}, [f"k{i}" for i in range(0, 70, 9)]),
     [{f"k{i}": i for i in range(70)}], [{f"k{i}": i for i in range(1, 70)}]),
    (obj({"user": obj({"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, ["name"]),
          "ok": {"type": "boolean"}}, ["user"]),
     [{"user": {"name": "x", "tags": ["a", "b"]}, "ok": True}, {"ok": False, "user": {"name": ""}}],
     [{"user": {}}, {"ok": True}]),
    # joining
    ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "minimum": 0}]}, ["abc", 5], ["abcd", -1, None]),
    ({"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 10}]}, [1, 10.5], [9.5]),
    ({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "additionalProperties": False,
      "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}], [{}, {"c": 1}]),
    ({"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 6}]}, [3, 6], [2, 7]),
    ({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}, [{"a": 1, "b": "x"}], [{"a": 1}, {"b": "x"}]),
    ({"allOf": [{"anyOf": [{"const": 1}, {"const": 2}]}, {"anyOf": [{"const": 2}, {"const": 3}]}]}, [2], [1, 3]),
    ({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}, ["x", 1, None], [1.5, []]),
    ({"oneOf": [obj({"kind": {"const": "cat"}, "lives": {"type": "integer"}}, ["kind", "lives"]),
                obj({"kind": {"const": "dog"}, "good": {"type": "boolean"}}, ["kind"])]},
     [{"kind": "cat", "lives": 9}, {"kind": "dog", "good": True}, {"kind": "dog"}], [{"kind": "cat"}, {"kind": "cow"}]),
    ({"type": "object", "required": ["k"], "oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}]},
     [{"k": 1}, {"k": 2, "z": 1}], [{"k": 3}, {}]),
    ({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]}, ["ax", "b"], ["c"]),
    ({"oneOf": [{"minimum": 10, "type": "number"}, {"maximum": 5, "type": "number"}]}, [12, 3.5], [7]),
    ({"anyOf": [{"const": 1}, {"const": 2}], "oneOf": [{"type": "integer", "maximum": 1}, {"type": "string"}]}, [1], [2, "x"]),
    ({"type": "object", "properties": {"next": {"$ref": "#"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
      "oneOf": [{"properties": {"k": {"const": 1}}, "required": ["k"]}, {"properties": {"k": {"const": 2}}, "required": ["k"]}]},
     [{"a": 0, "k": 1}, {"b": 0, "k": 2, "next": {"k": 1, "a": {}}}], [{"k": 1}, {"a": 0, "k": 3}, {"a": 0, "k": 1, "next": {"k": 2}}]),
    ({"allOf": [{"enum": [{"a": 1, "b": [{"c": 2, "d": 3}]}, 4]}, {"enum": [{"b": [{"d": 3, "c": 2}], "a": 1}, 5]}]},
     [{"a": 1, "b": [{"c": 2, "d": 3}]}], [4, 5]),
    ({"anyOf": [False, {"type": "null"}]}, [None], [1]),
    ({"anyOf": [{"anyOf": [{"const": "a"}, {"const": "b"}]}, {"allOf": [{"type": "integer"}, {"minimum": 5}]}]}, ["a", "b", 5],
     ["c", 4]),
    # references
    ({"$defs": {"p": {"type": "integer", "minimum": 0}}, "type": "array", "items": {"$ref": "#/$defs/p"}}, [[0, 1]], [[-1]]),
    ({"definitions": {"a/b~c d": {"const": 1}}, "$ref": "#/definitions/a~1b~0c%20d"}, [1], [2]),
    ({"$defs": {"x": {"$anchor": "here", "type": "null"}}, "$ref": "#here"}, [None], [1]),
    ({"$id": "https://example.org/s", "$defs": {"x": {"type": "null"}}, "$ref": "https://example.org/s#/$defs/x"}, [None], [1]),
    ({"$ref": "#/$defs/a", "maximum": 5, "$defs": {"a": {"$ref": "#/$defs/b", "minimum": 3}, "b": {"type": "integer"}}}, [3, 5],
     [2, 6, "x"]),
    ({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "integer"}}, "type": "object", "additionalProperties": False},
     [{"a": 1, "b": 2}], [{"a": "x"}]),
    (TREE, [{"value": 1}, {"value": 1, "left": {"value": 2, "right": {"value": 3}}}], [{}, {"value": 1, "left": {}}]),
    (LINKED, [None, {"head": "a", "tail": {"head": "b", "tail": None}}], [{"head": "a"}, {"head": "abcde", "tail": None}]),
    (NESTED_ARRAYS, [[], [[], [[]]]], [[1], {}]),
    ({"$defs": {"even": {"anyOf": [{"type": "null"}, obj({"n": {"$ref": "#/$defs/odd"}}, ["n"])]},
                "odd": obj({"n": {"$ref": "#/$defs/even"}}, ["n"])}, "$ref": "#/$defs/even"},
     [None, {"n": {"n": None}}], [{"n": None}]),
    ({"$defs": {"expr": {"anyOf": [{"type": "integer"}, {"type": "array", "prefixItems": [
        {"enum": ["+", "*"]}, {"$ref": "#/$defs/expr"}, {"$ref": "#/$defs/expr"}], "items": False, "minItems": 3}]}},
      "$ref": "#/$defs/expr"}, [1, ["+", 1, ["*", 2, 3]]], [["+", 1], ["-", 1, 2]]),
    # annotations do nothing
    ({"title": "t", "description": "d", "default": 1, "examples": [1], "deprecated": True, "readOnly": True, "$comment": "c",
      "x-own": {}, "type": "integer", "$schema": "https://json-schema.org/draft/2020-12/schema"}, [1], ["x"]),
    ({"type": "string", "format": "my-own-format", "maxLength": 3}, ["abc"], ["abcd"]),
    # realistic
    (obj({"name": {"type": "string", "minLength": 1, "maxLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
          "email": {"type": ["string", "null"], "format": "email"},
          "roles": {"type": "array", "items": {"enum": ["admin", "user", "guest"]}, "minItems": 1, "maxItems": 3},
          "address": obj({"street": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}}, ["zip"])},
         ["name", "age", "roles"]),
     [{"name": "Ann", "age": 30, "roles": ["admin"], "email": None, "address": {"zip": "12345", "street": "x"}}],
     [{"name": "", "age": 30, "roles": ["admin"]}, {"name": "x", "age": 151, "roles": ["user"]}]),
    ({"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                                       "filters": {"type": "object", "additionalProperties": {"type": "string"}}},
      "required": ["query"], "additionalProperties": False},
     [{"query": "q", "limit": 5, "filters": {"a": "b"}}], [{"limit": 5}, {"query": "q", "limit": 0}]),
]

FORMATS = {
    "date": (["2024-02-29", "1999-12-31", "2000-02-29"], ["2023-02-29", "1900-02-29", "2024-13-01", "2024-4-1", "0000-01-01"]),
    "time": (["12:30:00Z", "23:59:59.5+02:00"], ["24:00:00Z", "12:30:00", "12:60:00Z"]),
    "date-time": (["2024-05-06T07:08:09Z", "2024-05-06T07:08:09.123-05:30"], ["2024-05-06", "2024-05-06 07:08:09Z"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "g23e4567-e89b-12d3-a456-426614174000"]),
    "email": (["a@b.org", "first.last@ex-ample.co.uk"], ["a", "@b.org", "a@", "a@b_c.org"]),
    "hostname": (["localhost", "a-b.example.org"], ["-a.org", "a..b", ""]),
    "ipv4": (["0.0.0.0", "192.168.1.255"], ["256.1.1.1", "1.2.3", "01.2.3.4"]),
    "ipv6": (["::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::"], [":", "1:2:3", "1::2::3", "12345::"]),
    "uri": (["https://example.org/a/b?q=1#f", "ftp://h"], ["example.org", "http//x", "https://"]),
    "duration": (["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"], ["P", "1D", "PT", "P1S"]),
    "json-pointer": (["", "/a/b", "/a~1b/~0"], ["a", "/~2"]),
}
for name, (valid, invalid) in FORMATS.items():
    CASES.append(({"type": "string", "format": name}, valid, invalid))
    if name not in ("duration", "json-pointer"):
        CASES.append((obj({"v": {"type": "string", "format": name}}, ["v"]), [{"v": v} for v in valid], [{"v": v} for v in invalid]))

# Every pair of bounds, over integers and numbers.
for low in (-105, -1, 0, 9):
    for high in (-99, 0, 3.5, 110):
        if low < high:
            inside = [v for v in (-105, -100, -99.5, -3, -1, -0.5, 0, 0.25, 3, 3.5, 9, 10, 99.75, 110) if low <= v <= high]
            outside = [v for v in (-106, -98.5, -1.5, 0.5, 3.75, 8.5, 111) if not low <= v <= high]
            CASES.append(({"type": "number", "minimum": low, "maximum": high}, inside, outside))
            CASES.append(({"type": "integer", "minimum": low, "maximum": high}, [v for v in inside if v == int(v)],
                          [v for v in inside if v != int(v)] + outside))

# Lengths around what one token can hold.
for low, high in ((0, 1), (1, 1), (5, 9), (0, 64), (64, 66), (100, 300)):
    CASES.append((obj({"s": {"type": "string", "minLength": low, "maxLength": high}}, ["s"]),
                  [{"s": "a" * low}, {"s": "é" * high}, {"s": "\n" * ((low + high) // 2)}],
                  [{"s": "a" * (high + 1)}] + ([{"s": "a" * (low - 1)}] if low else [])))
    CASES.append(({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "minItems": low, "maxItems": high},
                  [[1] * low, [2] * high], [[1] * (high + 1)] + ([[1] * (low - 1)] if low else [])))

# The same leaf in many surroundings.
for leaf, good, bad in (({"type": "boolean"}, True, 0), ({"enum": ["on", "off"]}, "on", "of"),
                        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "ABC", "AB"),
                        ({"type": "integer", "minimum": 100, "maximum": 999}, 500, 99)):
    CASES.append(({"type": "array", "items": leaf, "maxItems": 4}, [[good] * 4], [[bad]]))
    CASES.append(({"anyOf": [leaf, {"type": "null"}]}, [good, None], [bad]))
    CASES.append((obj({"a": obj({"b": leaf}, ["b"])}, ["a"]), [{"a": {"b": good}}], [{"a": {"b": bad}}, {"a": {}}]))
    CASES.append(({"type": "object", "additionalProperties": leaf}, [{"x": good, "y": good}], [{"x": bad}]))
    CASES.append(({"$defs": {"l": leaf}, "type": "array", "prefixItems": [{"$ref": "#/$defs/l"}], "items": False, "minItems": 1},
                  [[good]], [[bad], []]))
    CASES.append(({"allOf": [leaf, {}, True]}, [good], [bad]))

# Refused: (schema text or object, code, what the field ends with, a word of the message)
REFUSED = [
    ({"not": {"type": "string"}}, "unsupported", "#/not", "not"),
    ({"type": "object", "properties": {"a": {"if": {}, "then": False}}}, "unsupported", "#/properties/a/if", "if"),
    ({"type": "array", "contains": {"type": "integer"}}, "unsupported", "#/contains", "contains"),
    ({"type": "array", "uniqueItems": True}, "unsupported", "#/uniqueItems", "uniqueItems"),
    ({"dependentRequired": {"a": ["b"]}}, "unsupported", "#/dependentRequired", "dependentRequired"),
    ({"unevaluatedProperties": False}, "unsupported", "#/unevaluatedProperties", "unevaluatedProperties"),
    ({"$dynamicRef": "#x"}, "unsupported", "#/$dynamicRef", "$dynamicRef"),
    ({"type": "string", "minLenght": 3}, "unsupported", "#/minLenght", "minLenght"),
    ({"type": "string", "nullable": True}, "unsupported", "#/nullable", "nullable"),
    ({"type": "string", "format": "idn-email"}, "unsupported", "#/format", "idn-email"),
    ({"type": "number", "multipleOf": 0.1}, "unsupported", "#/multipleOf", "multipleOf"),
    ({"type": "number", "multipleOf": 0}, "invalid_argument", "#/multipleOf", "greater than 0"),
    ({"type": "text"}, "invalid_argument", "#/type", "type"),
    ({"type": []}, "invalid_argument", "#/type", "type"),
    ({"minLength": -1}, "invalid_argument", "#/minLength", "whole number"),
    ({"minLength": "3"}, "invalid_argument", "#/minLength", "whole number"),
    ({"maxItems": 1e300}, "invalid_argument", "#/maxItems", "whole number"),
    ({"items": [{}]}, "invalid_argument", "#/items", "schema"),
    ({"required": "a"}, "invalid_argument", "#/required", "list"),
    ({"properties": {"a": 1}}, "invalid_argument", "#/properties", "schemas"),
    ({"anyOf": []}, "invalid_argument", "#/anyOf", "empty"),
    ({"exclusiveMinimum": True}, "invalid_argument", "#/exclusiveMinimum", "number"),
    ({"$ref": "#/nowhere"}, "invalid_argument", "#/$ref", "nothing"),
    ({"$ref": "https://example.org/other"}, "invalid_argument", "#/$ref", "out of the schema"),
    ({"$ref": "#/properties", "properties": {"a": {}}}, "unsupported", "", ""),
    ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, "unsupported", "#/oneOf", "both"),
    ({"oneOf": [{"type": "string"}, {"maxLength": 3}]}, "unsupported", "#/oneOf", "both"),
    ({"oneOf": [{"const": {"a": 1, "b": 2}}, {"const": {"b": 2, "a": 1}}]}, "unsupported", "#/oneOf", "both"),
    ({"type": "string", "pattern": "(a)\\1"}, "invalid_argument", "#/pattern", "groups"),
    ({"type": "string", "pattern": "a(?=b)"}, "invalid_argument", "#/pattern", "ookahead"),
    ({"type": "string", "pattern": "a("}, "invalid_argument", "#/pattern", "parenthesis"),
    ({"type": "string", "pattern": "[z-a]"}, "invalid_argument", "#/pattern", "backwards"),
    ({"type": "object", "minProperties": 3}, "unsupported", "", "minProperties"),
    ({"type": "object", "properties": {"a": {}}, "propertyNames": {"anyOf": [{"pattern": "a"}, {"pattern": "b"}]}}, "unsupported",
     "#/propertyNames", "propertyNames"),
    # what nothing can satisfy
    (False, "invalid_argument", "json_schema", "cannot be met"),
    ({"enum": []}, "invalid_argument", "json_schema", "cannot be met"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "invalid_argument", "json_schema", "cannot be met"),
    ({"type": "integer", "minimum": 3, "maximum": 2}, "invalid_argument", "json_schema", "cannot be met"),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, "invalid_argument", "json_schema", "cannot be met"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "invalid_argument", "json_schema", "cannot be met"),
    ({"type": "array", "minItems": 1, "items": False}, "invalid_argument", "json_schema", "cannot be met"),
    (obj({"a": {}}, ["b"]), "invalid_argument", "json_schema", "cannot be met"),
    ({"$defs": {"n": obj({"n": {"$ref": "#/$defs/n"}}, ["n"])}, "$ref": "#/$defs/n"}, "invalid_argument", "json_schema",
     "cannot be met"),
    # hostile
    ("{", "invalid_argument", "json_schema", "not JSON"),
    ("[1]", "invalid_argument", "json_schema", "schema must be"),
    ("[" * 100000, "budget_exceeded", "json_schema", "nested"),
    ('{"a":' * 5000 + "1" + "}" * 5000, "budget_exceeded", "json_schema", "nested"),
    ('"' + "x" * 2000000 + '"', "budget_exceeded", "json_schema", "1 MiB"),
    ({"type": "string", "minLength": 1000000000}, "budget_exceeded", "", "smaller"),
    ({"type": "array", "items": {"type": "string", "minLength": 1000}, "minItems": 1000}, "budget_exceeded", "", "smaller"),
    ({"const": 18446744073709551616}, "invalid_argument", "", "too large"),
    ({"enum": [1, [-9223372036854775809]]}, "invalid_argument", "", "too large"),
    ({"type": "integer", "minimum": 123456789012345678901234567890}, "invalid_argument", "", "too large"),
    ({"type": "string", "pattern": "^(a|b)*a(a|b){40}$"}, "budget_exceeded", "", "smaller"),
    ({"type": "string", "pattern": "((a{1000}){1000}){1000}"}, "budget_exceeded", "", "smaller"),
    ({"type": "string", "pattern": "(" * 5000 + ")" * 5000}, "budget_exceeded", "", "smaller"),
    ({"type": "string", "pattern": "^a*$", "maxLength": 1000000}, "budget_exceeded", "", "smaller"),
    ({"allOf": [{"anyOf": [{"minimum": i}, {"maximum": -i}]} for i in range(1, 12)]}, "budget_exceeded", "", "smaller"),
    ({"type": "object", "properties": {f"p{i}": {} for i in range(5000)}}, "budget_exceeded", "", "smaller"),
    ({"type": "object", "patternProperties": {f"{i}": {} for i in range(12)}}, "budget_exceeded", "", "smaller"),
]

if __name__ == "__main__":
    for case in CASES:
        print(json.dumps(case[0]))
