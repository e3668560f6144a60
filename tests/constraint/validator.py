"""What JSON schemas mean to Python's jsonschema: the independent validator of structured output."""
import datetime
import ipaddress
import json
import re
import uuid

import jsonschema

checker = jsonschema.FormatChecker(formats=())


def check_format(name, raises=ValueError):
    return checker.checks(name, raises=raises)


check_format("date")(lambda v: not isinstance(v, str) or (len(v) == 10 and bool(datetime.date.fromisoformat(v))))
TIME = r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"


def is_time(v):
    return bool(re.fullmatch(TIME, v)) and datetime.time.fromisoformat(re.sub(r"\.\d+", "", v).replace("Z", "+00:00")) is not None


check_format("time")(lambda v: not isinstance(v, str) or is_time(v))
check_format("date-time")(lambda v: not isinstance(v, str) or (v[10:11] == "T" and bool(datetime.date.fromisoformat(v[:10]))
                                                             and is_time(v[11:])))
check_format("uuid")(lambda v: not isinstance(v, str) or (len(v) == 36 and str(uuid.UUID(v)) == v.lower()))
check_format("email")(lambda v: not isinstance(v, str) or bool(re.fullmatch(r"[^@\s]+@[^@\s_]+", v)))
check_format("hostname")(lambda v: not isinstance(v, str) or all(
    0 < len(p) <= 63 and p[0] != "-" and p[-1] != "-" and re.fullmatch("[a-zA-Z0-9-]+", p) for p in v.split(".")))
check_format("ipv4")(lambda v: not isinstance(v, str) or bool(ipaddress.IPv4Address(v)))
check_format("ipv6")(lambda v: not isinstance(v, str) or bool(ipaddress.IPv6Address(v) is not None))
check_format("uri")(lambda v: not isinstance(v, str) or bool(re.match(r"[a-z][a-z0-9+-]*://[^/\s]+", v)))
check_format("duration")(lambda v: not isinstance(v, str) or bool(
    re.fullmatch(r"P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)", v)))
check_format("json-pointer")(lambda v: not isinstance(v, str) or bool(re.fullmatch(r"(/([^~/]|~[01])*)*", v, re.S)))


def no_constant(name):
    raise ValueError(name)


def python_regex(pattern):
    """ECMA-262 as the re module writes it."""
    pattern = re.sub(r"\(\?<(?=\w)", "(?P<", pattern).replace("$", r"\Z")
    return re.sub(r"\\u\{(\w+)\}", lambda m: rf"\U{int(m[1], 16):08x}", pattern)


def python_schema(schema):
    if isinstance(schema, list):
        return [python_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: python_schema(value) for key, value in schema.items()}
    if isinstance(schema.get("pattern"), str):
        out["pattern"] = python_regex(schema["pattern"])
    if "patternProperties" in schema:
        out["patternProperties"] = {python_regex(key): value for key, value in out["patternProperties"].items()}
    return out


def validator_of(schema):
    return jsonschema.Draft202012Validator(python_schema(schema), format_checker=checker)


def faults(validator, text):
    """Why the text is not JSON that the schema allows; empty when it is."""
    try:
        return [error.message for error in validator.iter_errors(json.loads(text, parse_constant=no_constant))]
    except ValueError as error:
        return [str(error)]
