#!/usr/bin/env python3
"""Writes tests/data/jinja/expected.json: what Python's jinja2 makes of the templates there.

    make_expected.py            writes the file
    make_expected.py --check    says whether the file is up to date (exit status 1 when it is not)

Needs python3-jinja2, and in TANDEM_MODELS the folder with the model whose template is compared as well. jinja2 is set
up as chat templates expect it: sandboxed and immutable, blocks trimmed, loop controls, generation tags, and the three
functions the interpreter gives them.
"""
import datetime
import functools
import json
import os
import pathlib
import struct
import sys

try:
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    sys.exit("The chat template tests need Python's jinja2: install the package python3-jinja2.")

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "jinja"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
NOW = datetime.datetime(2024, 7, 26, 15, 4, 5, 123456)


class Generation(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: prints its body, which is a scope of its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_print"), [], [], body).set_lineno(line)

    def _print(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def make_environment():
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return environment


ENVIRONMENT = make_environment()


def error(kind, exception=None):
    return {"error": kind} if exception is None else {"error": kind, "message": str(exception)}


@functools.lru_cache(maxsize=None)
def compile_template(source):
    return ENVIRONMENT.from_string(source)


def render(source, variables):
    """{"text": ...} or {"error": kind}, with the message when the template raised its own."""
    try:
        template = compile_template(source)
    except (jinja2.exceptions.TemplateSyntaxError, SyntaxError):
        return error("syntax")
    try:
        return {"text": template.render(bos_token="<s>", eos_token="</s>", **variables)}
    except jinja2.exceptions.SecurityError:
        return error("security")
    except jinja2.exceptions.UndefinedError:
        return error("undefined")
    except jinja2.exceptions.TemplateRuntimeError:
        return error("runtime")
    except jinja2.exceptions.TemplateError as exception:
        return error("raised", exception)
    except OverflowError as exception:
        return error("budget" if "Range too big" in str(exception) else "runtime")
    except Exception:  # whatever Python's own operations raise
        return error("runtime")


def read_string(file):
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8")


def skip_value(file, kind):
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    if kind == 8:
        read_string(file)
    elif kind == 9:
        element, count = struct.unpack("<IQ", file.read(12))
        for _ in range(count):
            skip_value(file, element)
    else:
        file.seek(sizes[kind], os.SEEK_CUR)


def model_template():
    """The chat template in the model file's metadata."""
    folder = os.environ.get("TANDEM_MODELS")
    if not folder or not os.path.exists(os.path.join(folder, MODEL)):
        sys.exit(f"Set TANDEM_MODELS to the folder that holds {MODEL}.")
    with open(os.path.join(folder, MODEL), "rb") as file:
        file.seek(16)
        (entries,) = struct.unpack("<Q", file.read(8))
        for _ in range(entries):
            key = read_string(file)
            (kind,) = struct.unpack("<I", file.read(4))
            if key == "tokenizer.chat_template":
                return read_string(file)
            skip_value(file, kind)
    sys.exit(f"{MODEL} carries no chat template.")


def read_json(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def expected():
    snippets = read_json("snippets.json")
    conversations = read_json("conversations.json")
    model_source = model_template()
    templates = {path.stem: path.read_bytes().decode("utf-8") for path in sorted((DATA / "templates").glob("*.jinja"))}
    return {
        "snippets": {
            group: [render(source, snippets["variables"]) for source in sources]
            for group, sources in snippets["groups"].items()
        },
        "templates": {
            name: {title: render(source, request) for title, request in conversations.items()}
            for name, source in templates.items()
        },
        "model": {title: render(model_source, request) for title, request in conversations.items()},
    }


def main():
    text = json.dumps(expected(), ensure_ascii=False, indent=1) + "\n"
    path = DATA / "expected.json"
    if "--check" not in sys.argv[1:]:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        sys.exit("expected.json does not say what jinja2 says; run make_expected.py.")
    else:
        print("expected.json is up to date.")


if __name__ == "__main__":
    main()
