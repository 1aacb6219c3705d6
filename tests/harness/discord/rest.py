"""The REST API: simcord's routes, and what it leaves out."""

import asyncio
import io
import json
import time
from datetime import timedelta
from types import SimpleNamespace

import simcord.http.routes  # noqa: F401  Registers the routes.
from aiohttp import web
from simcord.backend import errors, serializers
from simcord.backend.errors import BackendError
from simcord.http import router

from world import TOKEN, World, complete_guild, plain

# "Within the past few minutes", says the documentation.
NONCE_LIVES = timedelta(minutes=3)


class Rest:
    def __init__(self, world: World) -> None:
        self.world = world

    async def answer(self, request: web.Request) -> web.StreamResponse:
        method, path = request.method, "/" + request.match_info["path"]
        body, files = await read(request)
        names = [file.filename for file in files]
        self.world.requests.append({"method": method, "path": path, "body": body, "files": names})
        if self.world.is_down:
            return problem(503, 0, "upstream connect error")
        if needs_token(path) and request.headers.get("Authorization") != f"Bot {TOKEN}":
            return problem(401, 0, "401: Unauthorized")
        fault = self.world.fault_for(method, path)
        match fault and fault["kind"]:
            case "status":
                return problem(fault["status"], fault.get("code", 0), "a test's fault")
            case "rate_limit":
                return rate_limited(fault.get("retry_after", 1.5))
            case "delay":
                await asyncio.sleep(fault["seconds"])
        response = self.perform(method, path, body, files, request)
        if path.endswith("/callback") and response.status < 300:
            interaction = path.split("/")[2]
            took = time.monotonic() - self.world.delivered_at[interaction]
            self.world.acknowledged_after.setdefault(interaction, took)
        if fault and fault["kind"] == "lie":
            # It has happened, and the bot hears that it was refused.
            return problem(fault["status"], fault.get("code", 0), "a test's fault")
        if fault and fault["kind"] == "lose_answer":
            # It has happened, and the bot does not hear so.
            request.transport.abort()
        return response

    def perform(self, method: str, path: str, body: object, files: list, request: web.Request) -> web.Response:
        try:
            result = self.result(method, path, body, files, dict(request.query))
        except BackendError as error:
            return web.json_response(error.to_json(), status=error.status)
        if result is None or (path.endswith("/callback") and request.query.get("with_response") not in ("true", "1")):
            return web.Response(status=204)
        return web.json_response(plain(result))

    def result(self, method: str, path: str, body: object, files: list, query: dict) -> object:
        world, backend = self.world, self.world.backend
        match [method, *path.strip("/").split("/")]:
            case ["GET", "gateway"]:
                return {"url": world.gateway_url}
            case ["GET", "gateway", "bot"]:
                limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}
                return {"url": world.gateway_url, "shards": 1, "session_start_limit": limit}
            case [_, "guilds", *_] if world.bot_was_kicked:
                raise errors.unknown_guild()
            case ["PATCH", "channels", channel, "messages", _] if self.thread_is(channel, "archived"):
                raise BackendError(400, 50083, "Thread is archived")
            case ["PATCH", "channels", channel] if self.thread_is(channel, "locked"):
                # Without the permission to manage threads, which the bot does not ask for.
                raise errors.missing_permissions()
            case ["POST", "channels", channel, "messages"] if files:
                # simcord asks for it only where a message is forwarded.
                backend.require_permissions(world.guild.id, backend.bot_user.id, int(channel), "attach_files")
        match [method, *path.strip("/").split("/")]:
            case ["POST", "channels", channel, "messages"] if is_enforced(body):
                return self.post_once(int(channel), body, lambda: self.route(method, path, body, files, query))
        result = self.route(method, path, body, files, query)
        match [method, *path.strip("/").split("/")]:
            case ["GET", "guilds", _]:
                return complete_guild(result)
            case ["GET", "oauth2", "applications", "@me"] | ["GET", "applications", "@me"]:
                return {**result, "interactions_endpoint_url": world.interactions_endpoint_url}
        return result

    def thread_is(self, channel: str, state: str) -> bool:
        known = self.world.backend.channels.get(int(channel))
        return known is not None and known.thread_metadata is not None and getattr(known.thread_metadata, state)

    def route(self, method: str, path: str, body: object, files: list, query: dict) -> object:
        # What bots without the intent may not read is blank here, too.
        return router.dispatch(
            self.world.backend, method, path, json=body, params=query, files=files, message_content_access=False
        )

    def post_once(self, channel: int, body: dict, post) -> dict:
        """With a nonce that was used a moment ago, the message that it was used for."""
        backend, key = self.world.backend, (channel, str(body["nonce"]))
        message, posted_at = self.world.nonces.get(key, (None, None))
        if message is not None and backend.clock.now() - posted_at < NONCE_LIVES:
            if message in backend.messages.get(channel, {}):
                payload = serializers.message_payload(backend, backend.messages[channel][message])
                return {**payload, "nonce": body["nonce"]}
        posted = post()
        self.world.nonces[key] = (int(posted["id"]), backend.clock.now())
        return {**posted, "nonce": body["nonce"]}


async def read(request: web.Request) -> tuple[object, list]:
    """The JSON body and the files."""
    body, files = None, []
    if request.content_type.startswith("multipart/"):
        async for part in await request.multipart():
            data = await part.read()
            if part.name == "payload_json":
                body = json.loads(data)
            else:
                files.append(SimpleNamespace(fp=io.BytesIO(data), filename=part.filename or "file", description=None))
    elif text := await request.text():
        body = json.loads(text)
    return body, files


def needs_token(path: str) -> bool:
    carries_its_own = path.startswith("/interactions/") or (path.startswith("/webhooks/") and path.count("/") >= 3)
    return not carries_its_own and path != "/gateway"


def is_enforced(body: object) -> bool:
    return isinstance(body, dict) and bool(body.get("enforce_nonce")) and body.get("nonce") is not None


def problem(status: int, code: int, message: str) -> web.Response:
    return web.json_response({"message": message, "code": code}, status=status)


def rate_limited(retry_after: float) -> web.Response:
    body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": False}
    headers = {
        "Retry-After": str(max(1, round(retry_after))),
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset-After": str(retry_after),
        "X-RateLimit-Reset": "9999999999",
        "X-RateLimit-Bucket": "a-bucket",
        "X-RateLimit-Scope": "user",
        "Via": "1.1 google",
    }
    return web.json_response(body, status=429, headers=headers)
