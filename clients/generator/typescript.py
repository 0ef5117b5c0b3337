"""The parts of the client for TypeScript."""

import json
import re
import textwrap

from .document import MADE, OPEN, UNWRAPPED, WHOLE, Api, Call, Field, Schema, camel_case, is_given_id, required

# What the made methods may need of other files.
IMPORTS = {
    "caller": ["given", "listOf", "optionalId", "withIds"],
    "ids": ["type Id", "idList", "idText"],
    "options": [f"type {name}" for name in ("IdOptions", "ItemOptions", "KindOptions", "ListOptions", "ViewerOptions", "ViewOptions")],
    "pages": ["type List"],
    "schema": ["idFields"],
    "transport": ["type CallOptions", "type Transport"],
}


def type_of(schema: Schema) -> str:
    if reference := schema.get("$ref"):
        return {"Id": "string", "Extra": "JsonObject", "Time": "number"}.get(name := reference.rpartition("/")[2], name)
    if options := schema.get("oneOf"):
        return " | ".join(map(type_of, options))
    kinds = schema["type"]
    if isinstance(kinds, list):
        return " | ".join(type_of({**schema, "type": kind}) for kind in kinds)
    if kinds == "string" and is_given_id(schema):
        return "Id"
    if options := schema.get("enum"):
        return " | ".join(f'"{option}"' for option in options)
    if kinds == "array":
        item = type_of(schema["items"])
        return f"{item}[]" if item.isidentifier() else f"({item})[]"
    if kinds == "object":
        return f"Record<string, {type_of(schema['additionalProperties'])}>"
    return {"integer": "number", "number": "number", "boolean": "boolean", "string": "string", "null": "null"}[kinds]


def comment(text: str | None, indent: str = "") -> str:
    if not text:
        return ""
    lines = textwrap.wrap(" ".join(text.split()), 116 - len(indent))
    if len(lines) == 1 and len(indent + lines[0]) <= 112:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def definition(api: Api, name: str) -> str:
    schema = api.types[name]
    head = comment(schema.get("description"))
    if "properties" not in schema:
        return f"{head}export type {name} = {type_of(schema)};\n"
    out = f"{head}export interface {name} {{\n"
    needed = required(name, schema)
    for field, value in schema["properties"].items():
        kind = type_of(value)
        if field not in needed and name in api.requests:
            kind += " | undefined"
        out += comment(value.get("description"), "  ")
        out += f"  {field}{'' if field in needed else '?'}: {kind};\n"
    if name in OPEN:
        out += "  [field: string]: Json;\n"
    return out + "}\n"


def schema_text(api: Api) -> str:
    out = f'// {MADE}\n\nimport type {{ Id }} from "./ids.js";\nimport type {{ Json, JsonObject }} from "./json.js";\n\n'
    out += f'/** The version of the server and of this client. */\nexport const VERSION = "{api.version}";\n\n'
    out += "\n".join(definition(api, name) for name in api.types)
    out += "\n/** The codes of problems. */\nexport type Code =\n" + "\n".join(f'  | "{code}"' for code in api.codes) + ";\n"
    out += "\n/**\n * Each call: its method and path, whether the same request can be sent twice without harm, and whether it takes\n"
    out += " * `consistency`.\n */\n"
    out += "export const operations = {\n"
    for call in api.calls:
        flags = f"repeatable: {str(call.repeatable).lower()}, reads: {str(call.reads).lower()}"
        out += f'  {call.operation}: {{ method: "{call.method}", path: "{call.path}", {flags} }},\n'
    out += "} as const;\n\n/** The JSON that each call answers. */\nexport interface Answers {\n"
    out += "".join(f"  {call.operation}: {call.answer};\n" for call in api.calls if call.answer)
    out += "}\n\n/** The fields with ids of the bodies of requests. */\nexport const idFields = {\n"
    for name, fields in api.id_fields.items():
        out += f"  {name}: {json.dumps(fields)},\n"
    return out + "} as const;\n"


def named(schema: Schema) -> str:
    """A type outside of the file of types."""
    kind = type_of(schema)
    return f"api.{kind}" if kind[0].isupper() and kind != "Id" else kind


def argument_type(field: Field) -> str:
    return {"id": "Id", "ids": "readonly Id[]", "names": "readonly string[]", "flag": "boolean"}.get(field.kind) or named(field.schema)


def in_query(field: Field) -> str:
    """The value of a parameter."""
    value = camel_case(field.argument) if field.required else f"options.{camel_case(field.name)}"
    forms = {"id": "idText({})" if field.required else "optionalId({})", "ids": "idList({})", "names": '{}?.join(",")', "flag": "{} || undefined"}
    return forms.get(field.kind, "{}").format(value)


def object_of(values: dict[str, str]) -> str:
    """An object."""
    shown = [name if value == name else f"{name}: {value}" for name, value in values.items()]
    return f"{{ {', '.join(shown)} }}" if shown else "{}"


def broken(line: str) -> str:
    """A line with an object, which has a line for each field if it is long."""
    if len(line) <= 116:
        return line
    head, fields, end = re.fullmatch(r"(.*?\{) (.*) (\}.*)", line).groups()
    return "\n".join([head, *(f"      {field}," for field in fields.split(", ")), f"    {end}"])


def options_type(call: Call, view: str = "") -> str:
    """The type of the options of a call, with this form of the option `view`."""
    parts = []
    if call.is_page and call.has("kinds", "except_kinds", "viewer", "view"):
        parts.append({"full": "ItemOptions", "ids": "IdOptions", "": "ViewOptions"}[view])
    else:
        parts.append("ListOptions" if call.is_page else "CallOptions")
        parts += ["KindOptions"] if call.has("kinds", "except_kinds") else []
        parts += ["ViewerOptions"] if call.has("viewer") else []
        if call.has("view"):
            parts.append({"full": '{ view?: "full" | undefined }', "ids": '{ view: "ids" }', "": "{ view?: api.View | undefined }"}[view])
    rest = [field for field in call.options if field.name not in ("view", "kinds", "except_kinds", "viewer")]
    if rest:
        parts.append(f"{{ {'; '.join(f'{camel_case(field.name)}?: {argument_type(field)} | undefined' for field in rest)} }}")
    if call.body_options:
        names = " | ".join(f'"{field.name}"' for field in call.body_options)
        parts.append(f"Pick<api.{call.body_type}, {names}>" if call.body_arguments else f"api.{call.body_type}")
    return " & ".join(parts)


def taken(call: Call) -> tuple[list[str], str]:
    """The arguments for the body of a call, and the body."""
    if call.takes_body == "fields":
        arguments = []
        for field in call.body_arguments:
            name, kind = camel_case(field.argument), argument_type(field).removesuffix(" | null")
            arguments.append(f"{name}{'' if field.required else '?'}: {kind}")
        values = {field.name: camel_case(field.argument) for field in call.body_arguments}
        body = object_of(values | {field.name: f"options.{field.name}" for field in call.body_options})
    else:
        body = camel_case(call.body_argument)
        arguments = [f"{body}: api.{call.body_type}{' = {}' if call.body_type in WHOLE else ''}"]
    if any(field.kind in ("id", "ids") for field in call.body):
        body = f"withIds({body}, idFields.{call.body_type})"
    is_optional = call.takes_body == "fields" and not any(field.required for field in call.body)
    return arguments, f"given({body})" if is_optional else body


def method(call: Call) -> str:
    """A method of the client."""
    arguments = [f"{camel_case(field.argument)}: {argument_type(field)}" for field in call.needed]
    request = {}
    if call.in_path or call.is_page:
        request["path"] = object_of({field.name: camel_case(field.argument) for field in call.in_path})
    if call.query and not call.is_page:
        request["query"] = object_of({field.name: in_query(field) for field in call.query})
    if call.takes_body:
        more, request["body"] = taken(call)
        arguments += more
    if call.is_page:
        request["more"] = object_of({field.name: in_query(field) for field in call.options})
    lines = [broken(f"const {name} = {value};") for name, value in request.items()]
    form = "api.Content | api.ContentRef" if call.has("view") else f"api.{call.item}"
    sent = f'("{call.operation}", {object_of({name: name for name in request})}, options'
    if call.is_page:
        lines.append(f'return listOf<{form}>(this.#transport, "{call.operation}", path, options, more);')
    elif call.gives in UNWRAPPED:
        lines.append(f'return (await this.#transport.json{sent}, "{call.gives}")).{call.gives};')
    elif call.gives == "nothing":
        lines.append(f"await this.#transport.text{sent});")
    else:
        sender = {"object": "json", "text": "text", "bytes": "body"}[call.gives]
        lines.append(f"return this.#transport.{sender}{sent});")
    out = comment(call.about, "  ")
    if call.has("view"):
        out += signature(call, [*arguments, f"options?: {options_type(call, 'full')}"], "api.Content", ";")
        out += signature(call, [*arguments, f"options: {options_type(call, 'ids')}"], "api.ContentRef", ";")
        out += signature(call, [*arguments, f"options: {options_type(call)}"], form, ";")
    uses_options = bool(call.options or call.body_options) or call.is_page
    options = f"options: {options_type(call)} = {{}}" if uses_options else "options?: CallOptions"
    out += signature(call, [*arguments, options], form, " {")
    return out + "".join(f"    {line}\n" for line in lines) + "  }\n"


def signature(call: Call, arguments: list[str], form: str, end: str) -> str:
    """The head of a method whose list has entries of the type `form`."""
    array = f"({form})[]" if "|" in form else f"{form}[]"
    gives = {
        "page": f"List<{form}>",
        "items": f"Promise<{array}>",
        "cursor": "Promise<string | null>",
        "nothing": "Promise<void>",
        "object": f"Promise<api.{call.answer}>",
        "text": "Promise<string>",
        "bytes": "Promise<ReadableStream<Uint8Array>>",
    }[call.gives]
    is_async = end != ";" and call.gives in (*UNWRAPPED, "nothing")
    name = f"  {'async ' if is_async else ''}{call.name}"
    line = f"{name}({', '.join(arguments)}): {gives}{end}\n"
    if len(line) <= 120:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"  ): {gives}{end}\n"


def calls_text(api: Api) -> str:
    """The class with the made methods."""
    body = "/** The calls without behaviour of their own. */\nexport abstract class Calls {\n"
    body += "  readonly #transport: Transport;\n\n  constructor(transport: Transport) {\n    this.#transport = transport;\n  }\n\n"
    body += "\n".join(map(method, api.made)) + "}\n"
    out = f"// {MADE}\n\n"
    for file, names in IMPORTS.items():
        used = [name for name in names if re.search(rf"\b{name.split()[-1]}\b", body)]
        out += f'import {{ {", ".join(used)} }} from "./{file}.js";\n' if used else ""
    out += 'import type * as api from "./schema.js";\n\n'
    return out + body


def tests_text(api: Api) -> str:
    """A use of each made method with all its options."""
    out = f'// {MADE}\n\nimport type {{ Call }} from "./support.js";\n\n'
    out += "/** A use of each made method with all its options, then the query and the body that it sends. */\n"
    out += "export const made: Record<string, Call> = {\n"
    for call in api.made:
        arguments = [field.sample for field in call.needed]
        options = {camel_case(name): value for name, value in call.sample_options.items()}
        if call.takes_body == "fields":
            arguments += [call.example[field.name] for field in call.body_arguments]
            options |= {field.name: call.example[field.name] for field in call.body_options if field.name in call.example}
        elif call.takes_body:
            arguments.append(call.example)
        arguments += [options] if options else []
        sent = [literal(call.sample_query), *([literal(call.example)] if call.takes_body else [])]
        out += f"  {call.operation}: [(c) => c.{call.name}({', '.join(map(literal, arguments))}), {', '.join(sent)}],\n"
    return out + "};\n"


def literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
