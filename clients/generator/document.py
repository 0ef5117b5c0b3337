"""The OpenAPI document, as both clients need it."""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

Schema = dict[str, Any]

MADE = "Made by clients/generate.py from the OpenAPI document of the server. Do not edit."
# The document has one schema for both forms of an item. The clients give the short form (`view=ids`) the type
# `ContentRef`, so that an item of the type `Content` always has these fields.
ALWAYS = {"Content": ["kind", "media", "topics", "broadcast", "to", "audience", "counts"]}
DESCRIBED = {"Content": "An item. Optional fields are missing if they have no value."}
# Types of the document that the clients write by hand, or do not need.
LEFT_OUT = {"Id", "Extra", "EventData", "Description", "BackupArchive"}
# Types to whose fields an application may add its own.
OPEN = {"MediaItem"}
# Calls with behaviour of their own, which the clients write by hand, and their methods.
BY_HAND = {
    "publishContent": "publish",
    "publishContentBatch": "publishBatch",
    "comment": "comment",
    "listen": "stream",
    "listChanges": "changes",
}
# Methods that are not named by the rule of `method_of`.
NAMES = BY_HAND | {
    "getContent": "item",
    "listContent": "items",
    "editContent": "edit",
    "deleteContent": "delete",
    "takeOffContent": "takeOff",
    "restoreContent": "restore",
    "putUser": "setProfile",
    "putSettings": "setSettings",
    "listMembers": "listMembers",
    "verifyTimeline": "verify",
    "explainTimeline": "explain",
    "getReadiness": "ready",
    "getDescription": "openapi",
}
# Arguments that have another name than in the document. No argument may be a word of Python.
ARGUMENTS = {"uid": "user", "user_id": "user", "ids": "content_ids", "from": "from_user", "except": "except_"}
# The arguments for whole bodies, where it is not the type without `New`.
BODIES = {"ContentEdit": "changes", "NewList": "settings", "FollowingChange": "change", "MembersChange": "change"}
# Bodies that may be left out and are one argument all the same; of others each field is an option.
WHOLE = {"NewList"}
# Bodies whose optional fields are arguments in their order, and no options.
ALL_ARGUMENTS = {"NewToken"}
# Calls with POST that can be sent twice without harm. A repeated DELETE that answers 204 answers 404.
REPEATABLE = {"restoreContent", "changeFollowing", "changeListMembers"}
# Answers with nothing but one of these fields are given as its value.
UNWRAPPED = ("items", "cursor")
PAGE = ("limit", "before", "after")


def is_given_id(schema: Schema) -> bool:
    """Whether a field of a request is an id, which may also be given as a number."""
    return schema.get("maxLength") == 128 and "pattern" in schema or schema.get("$ref", "").endswith("/Id")


def camel_case(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)[A-Z]", lambda found: f"_{found[0]}", name).lower()


def method_of(operation: str) -> str:
    """The method of a call: its operation, without the `get` or `list` of a read."""
    rest = re.sub(r"^(?:get|list)(?=[A-Z])", "", operation)
    return NAMES.get(operation, rest[0].lower() + rest[1:])


def required(name: str, schema: Schema) -> set[str]:
    """The fields that a type always has."""
    return {*schema.get("required", []), *ALWAYS.get(name, [])}


def type_in(schema: Schema) -> str:
    """The name of the type that a schema refers to."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


class Field(NamedTuple):
    """A parameter, or a field of a body."""

    name: str
    schema: Schema
    required: bool
    example: Any

    @property
    def argument(self) -> str:
        return ARGUMENTS.get(self.name, self.name)

    @property
    def kind(self) -> str:
        """One of `id`, `ids`, `names`, `flag` and `value`."""
        kinds, pattern = self.schema.get("type"), self.schema.get("pattern", "")
        if "(," in pattern:  # with commas between them
            return "ids" if pattern.startswith("^([^,") else "names"
        if "array" in (kinds or ()):
            return "ids" if is_given_id(self.schema["items"]) else "names"
        if is_given_id(self.schema):
            return "id"
        return "flag" if kinds == "boolean" else "value"

    @property
    def sample(self) -> Any:
        """The example as an argument."""
        return self.example.split(",") if self.kind in ("ids", "names") else self.example


@dataclass
class Call:
    """A call of the API."""

    operation: str
    method: str
    path: str
    repeatable: bool
    reads: bool
    """Whether it takes `consistency`."""
    tag: str
    about: str
    in_path: list[Field]
    query: list[Field]
    body_type: str
    body: list[Field]
    takes_body: str
    """How the method takes the body: not at all (empty), by its `fields`, as `lists` of ids, or the `whole`."""
    answer: str
    """The type of the answer, empty if it is not JSON."""
    gives: str
    """What the method returns: a `page`, one of `UNWRAPPED`, the `object`, `nothing`, `text`, `bytes`, or a `stream`."""
    item: str
    """The type of `items` of the answer."""
    example: Any
    """An example of the body."""

    @property
    def name(self) -> str:
        return method_of(self.operation)

    @property
    def is_page(self) -> bool:
        return self.gives == "page"

    @property
    def needed(self) -> list[Field]:
        """The parameters that are arguments."""
        return [*self.in_path, *(field for field in self.query if field.required)]

    @property
    def options(self) -> list[Field]:
        """The parameters that are options, without those that all pages have."""
        return [field for field in self.query if not field.required and not (self.is_page and field.name in PAGE)]

    def has(self, *names: str) -> bool:
        """Whether the query has parameters with these names."""
        return {*names} <= {field.name for field in self.query}

    @property
    def body_arguments(self) -> list[Field]:
        """The fields of the body that are arguments."""
        is_argument = self.body_type in ALL_ARGUMENTS
        return [field for field in self.body if field.required or is_argument] if self.takes_body == "fields" else []

    @property
    def body_options(self) -> list[Field]:
        """The fields of the body that are options."""
        return [field for field in self.body if field not in self.body_arguments] if self.takes_body == "fields" else []

    @property
    def sample_options(self) -> dict[str, Any]:
        """A value for each option that is a parameter."""
        return {**({"limit": 7, "before": "5-a"} if self.is_page else {}), **{field.name: field.sample for field in self.options}}

    @property
    def sample_query(self) -> dict[str, str]:
        """The query that a call with all options sends."""
        given = {field.name: field.example for field in self.query if field.required} | self.sample_options
        return {name: ",".join(value) if isinstance(value, list) else str(value).replace("True", "true") for name, value in given.items()}

    @property
    def body_argument(self) -> str:
        return BODIES.get(self.body_type) or snake_case(self.body_type.removeprefix("New"))


class Api:
    """The types and the calls of the document."""

    def __init__(self, document: Schema):
        self.version: str = document["info"]["version"]
        self.tags: list[str] = [tag["name"] for tag in document["tags"]]
        self.schemas: dict[str, Schema] = document["components"]["schemas"]
        self.types = {name: schema for name, schema in self.schemas.items() if name not in LEFT_OUT}
        self.requests = requests(document)
        for name, text in DESCRIBED.items():
            self.types[name]["description"] = text
        self.calls: list[Call] = []
        texts = [document["info"]["description"]]
        for path, methods in document["paths"].items():
            for method, call in methods.items():
                self.calls.append(self.call(method, path, call))
                texts.append(call["responses"]["default"]["description"] if "default" in call["responses"] else "")
        self.made = [call for call in self.calls if call.operation not in BY_HAND]
        if streams := [call.operation for call in self.made if call.gives == "stream"]:
            raise SystemExit(f"a stream needs a method by hand, and a place in BY_HAND: {', '.join(streams)}")
        names = [call.name for call in self.calls]
        if twice := {name for name in names if names.count(name) > 1}:
            raise SystemExit(f"a method of two calls: {', '.join(sorted(twice))}. Choose another operation, or a name in NAMES")
        self.codes = sorted(
            {code for text in texts for found in re.findall(r"\b[45]\d\d\s+(`\w+`(?:,\s+`\w+`)*)", text) for code in re.findall(r"\w+", found)}
        )

    def call(self, method: str, path: str, call: Schema) -> Call:
        operation = call["operationId"]
        good = {status: answer for status, answer in call["responses"].items() if status.startswith("2")}
        repeatable = method in ("get", "put") or (method == "delete" and "200" in good) or operation in REPEATABLE
        parameters = call.get("parameters", [])
        content = next(iter(good.values())).get("content", {})
        answer = type_in(content.get("application/json", {}).get("schema", {}))
        answer = answer if answer in self.types else ""
        body = call.get("requestBody", {})
        taken = body.get("content", {}).get("application/json", {})
        body_type = type_in(taken.get("schema", {}))
        fields = self.fields(body_type)
        about = ". ".join(filter(None, (call["summary"], " ".join(call.get("description", "").split()))))
        about = about.replace("`uid`", "`user`").replace("This document", "The OpenAPI document").rstrip(".") + "."
        return Call(
            operation=operation,
            method=method.upper(),
            path=path,
            repeatable=repeatable,
            reads=any(parameter["name"] == "consistency" for parameter in parameters),
            tag=call["tags"][0],
            about=about,
            in_path=[self.parameter(each) for each in parameters if each["in"] == "path"],
            query=[self.parameter(each) for each in parameters if each["in"] == "query" and each["name"] != "consistency"],
            body_type=body_type,
            body=fields,
            takes_body=takes_body(body_type, fields, body.get("required", False)),
            answer=answer,
            gives=gives(answer and self.types[answer].get("properties", {}), content),
            item=type_in(self.types[answer]["properties"]["items"]["items"]) if self.has_items(answer) else "",
            example=taken.get("example"),
        )

    def has_items(self, name: str) -> bool:
        return bool(name) and "items" in self.types[name].get("properties", {})

    def fields(self, name: str) -> list[Field]:
        """The fields of a type, those that are required first."""
        schema = self.schemas.get(name, {})
        needed = schema.get("required", [])
        all_fields = schema.get("properties", {}).items()
        return sorted((Field(field, value, field in needed, None) for field, value in all_fields), key=lambda it: not it.required)

    def parameter(self, parameter: Schema) -> Field:
        schema = parameter["schema"]
        target = self.schemas.get(type_in(schema), schema)
        field = Field(parameter["name"], schema, parameter["required"], None)
        samples = {"id": "211", "ids": "200,211", "names": "a,b", "flag": True}
        fallback = target["enum"][-1] if "enum" in target else target.get("default", samples.get(field.kind, "x"))
        return field._replace(example=parameter.get("example", fallback))

    @property
    def id_fields(self) -> dict[str, list[str]]:
        """The fields with ids of the types of whole bodies, or of their items."""
        with_ids = {name: [field.name for field in self.fields(name) if field.kind in ("id", "ids")] for name in self.requests}
        return {name: fields for name, fields in sorted(with_ids.items()) if fields and name in self.types}


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


def takes_body(name: str, fields: list[Field], is_required: bool) -> str:
    """How a method takes the body of this type. Further optional fields must not change it."""
    if not name:
        return ""
    needed = [field for field in fields if field.required]
    if 0 < len(needed) <= 2 or (not is_required and name not in WHOLE):
        return "fields"
    return "lists" if all(field.kind == "ids" and not field.required for field in fields) else "whole"


def gives(fields: Schema | str, content: Schema) -> str:
    """What a method returns for an answer with these fields, or of these media types."""
    if not content:
        return "nothing"
    if fields == "":
        media_type = next(iter(content))
        is_text = media_type.startswith("text/") or media_type == "application/json"
        return "stream" if media_type == "text/event-stream" else "text" if is_text else "bytes"
    if {"items", "next", "prev"} <= {*fields}:
        return "page"
    return next((field for field in UNWRAPPED if [*fields] == [field]), "object")
