#!/usr/bin/env python3
"""Makes openapi.json: what the double needs of Discord's description of its API, closed against unknown keys.

    python3 extract.py path/to/discord-api-spec/specs/openapi.json > openapi.json

The description is https://github.com/discord/discord-api-spec, MIT, Copyright (c) 2023 Discord; the licence is kept
inside the extract. It leaves additionalProperties open, so that a misspelt key would pass; here every object that
lists its properties is closed. Where the documentation says otherwise, the documentation wins: it numbers new
attachments with plain integers.
"""

import json
import sys

ROOTS = [
    "MessageCreateRequest",
    "MessageEditRequestPartial",
    "CreateMessageInteractionCallbackRequest",
    "UpdateMessageInteractionCallbackRequest",
    "IncomingWebhookRequestPartial",
    "CreateTextThreadWithoutMessageRequest",
    "UpdateThreadRequestPartial",
]

LICENCE = """MIT License

Copyright (c) 2023 Discord

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated \
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the \
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit \
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the \
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE \
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR \
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR \
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""

PREFIX = "#/components/schemas/"


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(PREFIX)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


def closed(value):
    if isinstance(value, list):
        return [closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    # Prose and example values check nothing.
    kept = {key: closed(item) for key, item in value.items() if key != "description" or not isinstance(item, str)}
    if isinstance(value.get("properties"), dict):
        kept.setdefault("additionalProperties", False)
    return kept


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    schemas = description["components"]["schemas"]
    needed, waiting = {}, list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = closed(schemas[name])
            waiting.extend(references(schemas[name]))
    needed["MessageAttachmentRequest"]["properties"]["id"] = {"anyOf": [{"$ref": PREFIX + "SnowflakeType"}, {"type": "integer"}]}
    extract = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-source": f"{description['info']['title']}, version {description['info']['version']}, OpenAPI {description['openapi']}",
        "x-licence": LICENCE,
        "components": {"schemas": dict(sorted(needed.items()))},
    }
    json.dump(extract, sys.stdout, indent=1, ensure_ascii=False)
    print()


main()
