"""The parts of the client for Python."""

import json
import keyword
import re
import textwrap

from .document import MADE, OPEN, UNWRAPPED, WHOLE, Api, Call, Field, Schema, is_given_id, required, snake_case


def type_of(schema: Schema) -> str:
    if reference := schema.get("$ref"):
        return {"Id": "str", "Extra": "JsonObject", "Time": "int"}.get(name := reference.rpartition("/")[2], name)
    if options := schema.get("oneOf"):
        return f"Union[{', '.join(map(type_of, options))}]"
    kinds = schema["type"]
    if isinstance(kinds, list):
        return f"Union[{', '.join(type_of({**schema, 'type': kind}) for kind in kinds)}]"
    if kinds == "string" and is_given_id(schema):
        return "Id"
    if options := schema.get("enum"):
        return f"Literal[{', '.join(f'{chr(34)}{option}{chr(34)}' for option in options)}]"
    if kinds == "array":
        # A sequence may also be a tuple, and takes lists of subtypes.
        return f"List[{type_of(schema['items'])}]"
    if kinds == "object":
        return f"Dict[str, {type_of(schema['additionalProperties'])}]"
    return {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}[kinds]


def doc(text: str | None) -> str:
    if not text:
        return ""
    lines = textwrap.wrap(" ".join(text.split()), 106)
    if len(lines) == 1:
        return f'    """{lines[0]}"""\n\n'
    return '    """' + lines[0] + "\n" + "".join(f"    {line}\n" for line in lines[1:]) + '    """\n\n'


def fields(schema: Schema, names: list[str]) -> str:
    out = ""
    for name in names:
        value = schema["properties"][name]
        for line in textwrap.wrap(" ".join(value.get("description", "").split()), 108):
            out += f"    # {line}\n"
        out += f"    {name}: {type_of(value)}\n"
    return out


def definition(name: str, schema: Schema) -> str:
    if "properties" not in schema:
        return f"{name} = {type_of(schema)}\n"
    if name in OPEN:
        return f"# {schema['description']}: `type` and `url` are required.\n{name} = Dict[str, Json]\n"
    # A class cannot have a field with the name of a keyword, such as `except`. Such fields are optional.
    words = [field for field in schema["properties"] if keyword.iskeyword(field)]
    needed = [field for field in schema["properties"] if field in required(name, schema)]
    optional = [field for field in schema["properties"] if field not in [*needed, *words]]
    about = doc(schema.get("description"))
    bases, out = [], ""
    if needed and (optional or words):
        bases.append(f"_{name}")
        out += f"class _{name}(TypedDict):\n{fields(schema, needed)}\n\n"
    if words:
        bases.append(f"_{name}Words")
        out += "".join(f"# `{field}`: {schema['properties'][field]['description']}\n" for field in words)
        types = ", ".join(f'"{field}": {type_of(schema["properties"][field])}' for field in words)
        out += f'_{name}Words = TypedDict("_{name}Words", {{{types}}}, total=False)\n\n\n'
    total = ", total=False" if optional or words else ""
    shown = fields(schema, optional if bases else optional or needed)
    return f"{out}class {name}({', '.join(bases or ['TypedDict'])}{total}):\n{about}{shown}"


def schema_text(api: Api) -> str:
    out = f'"""Types and calls of the API. {MADE}"""\n\n'
    out += "from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, NamedTuple, TypedDict, Union\n\n"
    out += f'VERSION = "{api.version}"\n\n'
    out += '# An id as the application has it: text, or a whole number from 1 to 2**63-1.\nId = Union[str, int]\n'
    out += "Json = Any\nJsonObject = Dict[str, Any]\n\n"
    # Names before their use: an alias is evaluated when it is defined.
    order = sorted(api.types, key=lambda name: ("properties" in api.types[name], "enum" not in api.types[name], name != "MediaItem"))
    order.sort(key=lambda name: "properties" in api.types[name] and name != "MediaItem")
    order.sort(key=lambda name: name != "MediaItem")
    out += "\n\n".join(definition(name, api.types[name]) for name in order)
    out += "\n\nCode = Literal[\n" + "".join(f'    "{code}",\n' for code in api.codes) + "]\n"
    out += '\n\nclass Operation(NamedTuple):\n    """A call: its method and path, whether the same request can be sent twice without harm, and whether it takes\n'
    out += '    `consistency`.\n    """\n\n'
    out += "    method: str\n    path: str\n    repeatable: bool\n    reads: bool\n\n\nOPERATIONS: Dict[str, Operation] = {\n"
    for call in api.calls:
        out += f'    "{call.operation}": Operation("{call.method}", "{call.path}", {call.repeatable}, {call.reads}),\n'
    out += "}\n\n# The fields with ids of the bodies of requests.\nID_FIELDS: Dict[str, List[str]] = {\n"
    return out + "".join(f'    "{name}": {literal(fields)},\n' for name, fields in api.id_fields.items()) + "}\n"


def argument_type(field: Field) -> str:
    kinds = {"id": "Id", "ids": "Iterable[Id]", "names": "Iterable[str]", "flag": "bool"}
    return kinds.get(field.kind) or re.sub(r"Union\[(.*), None\]", r"\1", type_of(field.schema))


def optional(name: str, kind: str) -> str:
    return f"{name}: Optional[{kind}] = None"


def in_body(field: Field) -> str:
    """The value of a field of the body."""
    forms = {"id": "id_text({})" if field.required else "optional_id({})", "ids": "id_texts({})", "names": "listed({})"}
    return forms.get(field.kind, "{}").format(field.argument)


def in_query(field: Field) -> str:
    """The value of a parameter."""
    forms = {"id": "id_text({})" if field.required else "optional_id({})", "ids": "id_list({})", "names": "joined({})"}
    return (forms | {"flag": "flag({})"}).get(field.kind, "{}").format(field.argument)


def object_of(values: dict[str, str]) -> str:
    return f"{{{', '.join(f'{literal(name)}: {value}' for name, value in values.items())}}}"


def keywords(call: Call) -> list[str]:
    """The arguments with names, without `view`."""
    words = [optional(name, kind) for name, kind in (("limit", "int"), ("before", "str"), ("after", "str")) if call.is_page]
    for field in call.options:
        if field.name != "view":
            is_flag = field.kind == "flag"
            words.append(f"{field.argument}: bool = False" if is_flag else optional(field.argument, argument_type(field)))
    words += [optional(field.argument, argument_type(field)) for field in call.body_options]
    if call.takes_body == "lists":
        words += [f"{field.argument}: Iterable[Id] = ()" for field in call.body]
    return words


def taken(call: Call) -> tuple[list[str], str]:
    """The arguments for the body of a call that need no names, and the body."""
    if call.takes_body == "whole":
        name, kind = call.body_argument, call.body_type
        has_ids = any(field.kind in ("id", "ids") for field in call.body)
        body = f'with_ids({name}, "{kind}")' if has_ids else name
        return ([optional(name, kind)], f"{body} or {{}}") if kind in WHOLE else ([f"{name}: {kind}"], body)
    arguments = []
    for field in call.body_arguments:
        kind = argument_type(field)
        arguments.append(f"{field.argument}: {kind}" if field.required else optional(field.argument, kind))
    body = object_of({field.name: in_body(field) for field in call.body})
    return arguments, body if call.takes_body == "lists" else f"given({body})"


def method(call: Call) -> str:
    """A method of the client."""
    arguments = ["self", *(f"{field.argument}: {argument_type(field)}" for field in call.needed)]
    request = [literal(call.operation)]
    if call.in_path or call.is_page:
        request.append(object_of({field.name: field.argument for field in call.in_path}))
    if call.query and not call.is_page:
        request.append(f"query={object_of({field.name: in_query(field) for field in call.query})}")
    if call.takes_body:
        more, body = taken(call)
        arguments += more
        request.append(f"body={body}")
    if call.is_page:
        more_query = object_of({field.name: in_query(field) for field in call.options})
        lines = [invoked("return self._list", [*request, "limit", "before", "after", more_query])]
    else:
        lines = [invoked("request = Request", request)]
    if call.gives in UNWRAPPED:
        lines += [f'answer: {call.answer} = await self._json(request, "{call.gives}")', f'return answer["{call.gives}"]']
    elif call.gives == "object":
        lines += [f"answer: {call.answer} = await self._json(request)", "return answer"]
    elif not call.is_page:
        lines.append({"nothing": "await self._nothing", "text": "return await self._text", "bytes": "return self._pieces"}[call.gives] + "(request)")
    about = call.about.replace("`null`", "`None`").replace("`true`", "`True`").replace("`from`", "`from_user`")
    if call.gives == "bytes":
        about += " It is given piece by piece, asked for when the loop begins, and not asked for again."
    words, out = keywords(call), ""
    if call.has("view"):
        for view, form in (('Optional[Literal["full"]] = None', "Content"), ('Literal["ids"]', "ContentRef")):
            out += f"    @overload\n{signature(call, arguments, [*words, f'view: {view}'], [form])} ...\n\n"
        words.append("view: Optional[View] = None")
    out += signature(call, arguments, words, ["Content", "ContentRef"] if call.has("view") else [call.item])
    text = textwrap.indent(doc(about).rstrip("\n"), "    ")
    return f"{out}\n{text}\n" + "".join(f"        {line}\n" for line in lines)


def invoked(head: str, arguments: list[str]) -> str:
    """A call of a function, with a line for each argument if it is long."""
    line = f"{head}({', '.join(arguments)})"
    if len(line) <= 110:
        return line
    return f"{head}(\n" + "".join(f"            {argument},\n" for argument in arguments) + "        )"


def signature(call: Call, arguments: list[str], words: list[str], forms: list[str]) -> str:
    """The head of a method whose list has entries of one of these types."""
    array = "AsyncListing" if call.is_page else "List"
    entries = [f"{array}[{form}]" for form in forms]
    gives = {
        "page": entries[0] if len(entries) == 1 else f"Union[{', '.join(entries)}]",
        "cursor": "Optional[str]",
        "nothing": "None",
        "object": call.answer,
        "text": "str",
        "bytes": "AsyncIterator[bytes]",
    }
    gives["items"] = gives["page"]
    head = "def" if call.gives in ("page", "bytes") else "async def"
    given = [*arguments, *(["*", *words] if words else [])]
    line = f"    {head} {snake_case(call.name)}({', '.join(given)}) -> {gives[call.gives]}:"
    if len(line) <= 116:
        return line
    return f"    {head} {snake_case(call.name)}(\n" + "".join(f"        {each},\n" for each in given) + f"    ) -> {gives[call.gives]}:"


def used(names: list[str], text: str) -> str:
    return ", ".join(name for name in names if re.search(rf"\b{name}\b", text))


def calls_text(api: Api) -> str:
    """The class with the made methods, for asyncio."""
    methods = "\n".join(map(method, api.made))
    helpers = ["Request", "flag", "given", "joined", "listed", "with_ids"]
    out = f'"""The calls without behaviour of their own. {MADE}"""\n\nfrom __future__ import annotations\n\n'
    out += f"from typing import {used(['AsyncIterator', 'Iterable', 'List', 'Literal', 'Optional', 'Union', 'overload'], methods)}\n\n"
    ids = ["id_list", "id_text", "id_texts", "optional_id"]
    out += f"from .._ids import {used(ids, methods)}\nfrom .._requests import {used(helpers, methods)}\n"
    names = "".join(f"    {name},\n" for name in sorted(["Id", *api.types]) if re.search(rf"\b{name}\b(?! |`)|[\[:] ?{name}\b", methods))
    out += f"from ..schema import (\n{names})\nfrom .caller import AsyncCaller\nfrom .listing import AsyncListing\n\n\n"
    return out + f'class AsyncCalls(AsyncCaller):\n    """Each method is one call of the API."""\n\n{methods}'


def tests_text(api: Api) -> str:
    """A use of each made method with all its options."""
    out = f'"""Calls of all made methods. {MADE}"""\n\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, Tuple\n\n'
    out += "# A use of each made method with all its options, then the query and the body that it sends.\n"
    out += "MADE: Dict[str, Tuple[Any, ...]] = {\n"
    for call in api.made:
        arguments = [literal(field.sample) for field in call.needed]
        words = call.sample_options
        if call.takes_body == "fields":
            arguments += [literal(call.example[field.name]) for field in call.body_arguments]
        elif call.takes_body == "whole":
            arguments.append(literal(call.example))
        named = call.body if call.takes_body == "lists" else call.body_options
        words |= {field.argument: call.example[field.name] for field in named if field.name in call.example}
        arguments += [f"{name}={literal(value)}" for name, value in words.items()]
        sent = [literal(call.sample_query), *([literal(call.example)] if call.takes_body else [])]
        out += f'    "{call.operation}": (lambda c: c.{snake_case(call.name)}({", ".join(arguments)}), {", ".join(sent)}),\n'
    return out + "}\n"


def literal(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(name)}: {literal(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# What makes the blocking client of the asynchronous one, word by word. It is in the repository, and not made when the package
# is: so an install from the sources, an editable one, type checkers and stack traces all have the same files without a build.
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


def blocking(text: str) -> str:
    """A file of the blocking client."""
    for pattern, word in BLOCKING:
        text = re.sub(pattern, word, text)
    return text
