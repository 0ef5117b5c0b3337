#!/usr/bin/env python3
"""Writes the parts of the clients that follow from the OpenAPI document of the server.

These are the types of bodies and answers, the method and path of each call, the codes of problems, and the version.
"""

import argparse
import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

HERE = Path(__file__).resolve().parent
MADE = "Made by clients/generate.py from the OpenAPI document of the server. Do not edit."
# The document has one schema for both forms of an item. The clients give the short form (`view=ids`) the type
# `ContentRef`, so that an item of the type `Content` always has these fields.
ALWAYS = {"Content": ["kind", "media", "topics", "broadcast", "to", "audience", "counts"]}
DESCRIBED = {"Content": "An item. Optional fields are missing if they have no value."}
# Types of the document that the clients write by hand, or do not need.
LEFT_OUT = {"Id", "Extra", "EventData", "Description", "BackupArchive"}
# Types to whose fields an application may add its own.
OPEN = {"MediaItem"}


def is_given_id(schema: Schema) -> bool:
    """Whether a field of a request is an id, which may also be given as a number."""
    return schema.get("maxLength") == 128 and "pattern" in schema


def required(name: str, schema: Schema) -> set[str]:
    return {*schema.get("required", []), *ALWAYS.get(name, [])}


def requests(document: Schema) -> set[str]:
    """The names of the types in bodies of requests."""
    names: set[str] = set()
    calls = [call for methods in document["paths"].values() for call in methods.values()]
    waiting = [call.get("requestBody", {}) for call in calls]
    while waiting:
        found = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(waiting.pop()))) - names
        names |= found
        waiting += [document["components"]["schemas"][name] for name in found]
    return names


class Api:
    """The parts of the document that both clients need."""

    def __init__(self, document: Schema):
        self.version: str = document["info"]["version"]
        self.types: dict[str, Schema] = {
            name: schema for name, schema in document["components"]["schemas"].items() if name not in LEFT_OUT
        }
        self.requests = requests(document)
        for name, text in DESCRIBED.items():
            self.types[name]["description"] = text
        self.operations: dict[str, tuple[str, str, bool, bool, str | None]] = {}
        texts = [document["info"]["description"]]
        for path, methods in document["paths"].items():
            for method, call in methods.items():
                good = {status: answer for status, answer in call["responses"].items() if status.startswith("2")}
                # A repeated DELETE that answers 204 answers 404.
                repeatable = method in ("get", "put") or (method == "delete" and "200" in good)
                answer = next(iter(good.values())).get("content", {}).get("application/json", {}).get("schema", {})
                name = answer.get("$ref", "").rpartition("/")[2]
                takes_consistency = any(parameter["name"] == "consistency" for parameter in call.get("parameters", []))
                answer = name if name in self.types else None
                self.operations[call["operationId"]] = (method.upper(), path, repeatable, takes_consistency, answer)
                texts.append(call["responses"]["default"]["description"] if "default" in call["responses"] else "")
        self.codes = sorted(
            {code for text in texts for found in re.findall(r"\b[45]\d\d\s+(`\w+`(?:,\s+`\w+`)*)", text) for code in re.findall(r"\w+", found)}
        )


class TypeScript:
    path = HERE / "typescript" / "src" / "schema.ts"

    @staticmethod
    def type(schema: Schema) -> str:
        if reference := schema.get("$ref"):
            return {"Id": "string", "Extra": "JsonObject", "Time": "number"}.get(name := reference.rpartition("/")[2], name)
        if options := schema.get("oneOf"):
            return " | ".join(map(TypeScript.type, options))
        kinds = schema["type"]
        if isinstance(kinds, list):
            return " | ".join(TypeScript.type({**schema, "type": kind}) for kind in kinds)
        if kinds == "string" and is_given_id(schema):
            return "Id"
        if options := schema.get("enum"):
            return " | ".join(f'"{option}"' for option in options)
        if kinds == "array":
            item = TypeScript.type(schema["items"])
            return f"{item}[]" if item.isidentifier() else f"({item})[]"
        if kinds == "object":
            return f"Record<string, {TypeScript.type(schema['additionalProperties'])}>"
        return {"integer": "number", "number": "number", "boolean": "boolean", "string": "string", "null": "null"}[kinds]

    @staticmethod
    def comment(text: str | None, indent: str = "") -> str:
        if not text:
            return ""
        lines = textwrap.wrap(" ".join(text.split()), 116 - len(indent))
        if len(lines) == 1 and len(indent + lines[0]) <= 112:
            return f"{indent}/** {lines[0]} */\n"
        return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"

    @staticmethod
    def definition(api: Api, name: str) -> str:
        schema = api.types[name]
        head = TypeScript.comment(schema.get("description"))
        if "properties" not in schema:
            return f"{head}export type {name} = {TypeScript.type(schema)};\n"
        out = f"{head}export interface {name} {{\n"
        needed = required(name, schema)
        for field, value in schema["properties"].items():
            kind = TypeScript.type(value)
            if field not in needed and name in api.requests:
                kind += " | undefined"
            out += TypeScript.comment(value.get("description"), "  ")
            out += f"  {field}{'' if field in needed else '?'}: {kind};\n"
        if name in OPEN:
            out += "  [field: string]: Json;\n"
        return out + "}\n"

    @staticmethod
    def text(api: Api) -> str:
        out = f'// {MADE}\n\nimport type {{ Id }} from "./ids.js";\nimport type {{ Json, JsonObject }} from "./json.js";\n\n'
        out += f'/** The version of the server and of this client. */\nexport const VERSION = "{api.version}";\n\n'
        out += "\n".join(TypeScript.definition(api, name) for name in api.types)
        out += "\n/** The codes of problems. */\nexport type Code =\n" + "\n".join(f'  | "{code}"' for code in api.codes) + ";\n"
        out += "\n/**\n * Each call: its method and path, whether the same request can be sent twice without harm, and whether it takes\n"
        out += " * `consistency`.\n */\n"
        out += "export const operations = {\n"
        for name, (method, path, repeatable, reads, _) in api.operations.items():
            flags = f"repeatable: {str(repeatable).lower()}, reads: {str(reads).lower()}"
            out += f'  {name}: {{ method: "{method}", path: "{path}", {flags} }},\n'
        out += "} as const;\n\n/** The JSON that each call answers. */\nexport interface Answers {\n"
        for name, (*_, answer) in api.operations.items():
            out += f"  {name}: {answer};\n" if answer else ""
        return out + "}\n"


class Python:
    path = HERE / "python" / "src" / "tideline" / "schema.py"

    @staticmethod
    def type(schema: Schema) -> str:
        if reference := schema.get("$ref"):
            return {"Id": "str", "Extra": "JsonObject", "Time": "int"}.get(name := reference.rpartition("/")[2], name)
        if options := schema.get("oneOf"):
            return f"Union[{', '.join(map(Python.type, options))}]"
        kinds = schema["type"]
        if isinstance(kinds, list):
            return f"Union[{', '.join(Python.type({**schema, 'type': kind}) for kind in kinds)}]"
        if kinds == "string" and is_given_id(schema):
            return "Id"
        if options := schema.get("enum"):
            return f"Literal[{', '.join(f'{chr(34)}{option}{chr(34)}' for option in options)}]"
        if kinds == "array":
            # A sequence may also be a tuple, and takes lists of subtypes.
            return f"List[{Python.type(schema['items'])}]"
        if kinds == "object":
            return f"Dict[str, {Python.type(schema['additionalProperties'])}]"
        return {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}[kinds]

    @staticmethod
    def doc(text: str | None) -> str:
        if not text:
            return ""
        lines = textwrap.wrap(" ".join(text.split()), 106)
        if len(lines) == 1:
            return f'    """{lines[0]}"""\n\n'
        return '    """' + lines[0] + "\n" + "".join(f"    {line}\n" for line in lines[1:]) + '    """\n\n'

    @staticmethod
    def fields(schema: Schema, names: list[str]) -> str:
        out = ""
        for name in names:
            value = schema["properties"][name]
            for line in textwrap.wrap(" ".join(value.get("description", "").split()), 108):
                out += f"    # {line}\n"
            out += f"    {name}: {Python.type(value)}\n"
        return out

    @staticmethod
    def definition(name: str, schema: Schema) -> str:
        if "properties" not in schema:
            return f"{name} = {Python.type(schema)}\n"
        if name in OPEN:
            return f"# {schema['description']}: `type` and `url` are required.\n{name} = Dict[str, Json]\n"
        # A class cannot have a field with the name of a keyword, such as `except`. Such fields are optional.
        words = [field for field in schema["properties"] if keyword.iskeyword(field)]
        needed = [field for field in schema["properties"] if field in required(name, schema)]
        optional = [field for field in schema["properties"] if field not in [*needed, *words]]
        doc = Python.doc(schema.get("description"))
        bases, out = [], ""
        if needed and (optional or words):
            bases.append(f"_{name}")
            out += f"class _{name}(TypedDict):\n{Python.fields(schema, needed)}\n\n"
        if words:
            bases.append(f"_{name}Words")
            out += "".join(f"# `{field}`: {schema['properties'][field]['description']}\n" for field in words)
            types = ", ".join(f'"{field}": {Python.type(schema["properties"][field])}' for field in words)
            out += f'_{name}Words = TypedDict("_{name}Words", {{{types}}}, total=False)\n\n\n'
        total = ", total=False" if optional or words else ""
        fields = Python.fields(schema, optional if bases else optional or needed)
        return f"{out}class {name}({', '.join(bases or ['TypedDict'])}{total}):\n{doc}{fields}"

    @staticmethod
    def text(api: Api) -> str:
        out = f'"""Types and calls of the API. {MADE}"""\n\n'
        out += "from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, NamedTuple, TypedDict, Union\n\n"
        out += f'VERSION = "{api.version}"\n\n'
        out += '# An id as the application has it: text, or a whole number from 1 to 2**63-1.\nId = Union[str, int]\n'
        out += "Json = Any\nJsonObject = Dict[str, Any]\n\n"
        # Names before their use: an alias is evaluated when it is defined.
        order = sorted(api.types, key=lambda name: ("properties" in api.types[name], "enum" not in api.types[name], name != "MediaItem"))
        order.sort(key=lambda name: "properties" in api.types[name] and name != "MediaItem")
        order.sort(key=lambda name: name != "MediaItem")
        out += "\n\n".join(Python.definition(name, api.types[name]) for name in order)
        out += "\n\nCode = Literal[\n" + "".join(f'    "{code}",\n' for code in api.codes) + "]\n"
        out += '\n\nclass Operation(NamedTuple):\n    """A call: its method and path, whether the same request can be sent twice without harm, and whether it takes\n'
        out += '    `consistency`.\n    """\n\n'
        out += "    method: str\n    path: str\n    repeatable: bool\n    reads: bool\n\n\nOPERATIONS: Dict[str, Operation] = {\n"
        for name, (method, path, repeatable, reads, _) in api.operations.items():
            out += f'    "{name}": Operation("{method}", "{path}", {repeatable}, {reads}),\n'
        return out + "}\n"


# What makes the blocking client of the asynchronous one, word by word.
BLOCKING = [
    (r"The asynchronous client\. .*", 'The blocking client, made by clients/generate.py from `_async`. Do not edit."""'),
    (r"from asyncio import Lock", "from threading import Lock"),
    (r"from asyncio import sleep", "from time import sleep"),
    (r"Awaitable\[((?:[^\[\]]|\[\w+\])+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"\b(?:async|await) ", ""),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\b__a(iter|enter|exit)__", r"__\1__"),
    (r"\ba(read|iter_bytes|close)\b", r"\1"),
    (r"\bAsync(\w+)", r"\1"),
]


def blocking(path: Path) -> str:
    text = path.read_text()
    for pattern, word in BLOCKING:
        text = re.sub(pattern, word, text)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the server, which has the document")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    args = parser.parse_args()
    printed = subprocess.run([args.binary.resolve(), "openapi"], check=True, capture_output=True).stdout
    api = Api(json.loads(printed))
    made = {client.path: client.text(api) for client in (TypeScript, Python)}
    package = Python.path.parent
    made |= {package / "_sync" / path.name: blocking(path) for path in (package / "_async").glob("*.py")}
    old = []
    for path, text in made.items():
        if args.check and (not path.exists() or path.read_text() != text):
            old.append(str(path.relative_to(HERE.parent)))
        elif not args.check:
            path.write_text(text)
    if old:
        print(f"not current: {', '.join(old)}. Run `make clients`", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
