"""The gateway: identify, heartbeat, resume, and events as the intents allow."""

import asyncio
import itertools
import json

import discord
from aiohttp import WSMsgType, web
from simcord import intents as rules
from simcord.backend import serializers

from world import TOKEN, World, complete_guild, plain

HEARTBEAT_MS = 41_250
CLOSED = None


class Gateway:
    def __init__(self, world: World) -> None:
        self.world = world
        self.numbers = itertools.count(1)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        if self.world.is_down:
            return web.Response(status=503)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await send(socket, {"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS}})
        session = None
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                continue
            frame = json.loads(message.data)
            match frame.get("op"):
                case 1:
                    await send(socket, {"op": 11})
                case 2:
                    session = await self.identify(socket, frame["d"])
                case 6:
                    session = await self.resume(socket, frame["d"])
        if session is not None and session.socket is socket:
            session.detach()
        return socket

    async def identify(self, socket: web.WebSocketResponse, wish: dict) -> "Session | None":
        if wish["token"].removeprefix("Bot ") != TOKEN:
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        wanted = discord.Intents._from_value(wish["intents"])
        if any(getattr(wanted, name) for name in rules.PRIVILEGED_INTENTS):
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        session = Session(self.world, f"session-{next(self.numbers)}", wanted)
        self.world.sessions[session.id] = session
        session.attach(socket, after=0)
        session.greet()
        return session

    async def resume(self, socket: web.WebSocketResponse, wish: dict) -> "Session | None":
        session = self.world.sessions.get(wish["session_id"])
        if session is None:
            await send(socket, {"op": 9, "d": False})
            return None
        session.attach(socket, after=wish["seq"])
        session.dispatch("RESUMED", {})
        return session


class Session:
    """What one identification is sent; it outlives its connection, for a resumption."""

    def __init__(self, world: World, name: str, intents: discord.Intents) -> None:
        self.world, self.id, self.intents = world, name, intents
        self.sent: list[dict] = []
        self.socket: web.WebSocketResponse | None = None
        self.queue: asyncio.Queue = asyncio.Queue()
        self.late: asyncio.Queue = asyncio.Queue()

    def attach(self, socket: web.WebSocketResponse, after: int) -> None:
        self.detach()
        self.socket, self.queue = socket, asyncio.Queue()
        for frame in self.sent[after:]:
            self.queue.put_nowait(frame)
        self.writer = asyncio.create_task(write(socket, self.queue))

    def detach(self) -> None:
        self.socket = None
        self.queue.put_nowait(CLOSED)

    def greet(self) -> None:
        backend = self.world.backend
        guilds = {} if self.world.bot_was_kicked else backend.guilds
        ready = {
            "v": 10,
            "user": serializers.user_payload(backend.bot_user),
            "guilds": [{"id": str(guild), "unavailable": True} for guild in guilds],
            "session_id": self.id,
            "resume_gateway_url": self.world.gateway_url,
            "shard": [0, 1],
            "application": {"id": str(backend.application_id), "flags": 0},
        }
        self.dispatch("READY", ready)
        for guild in guilds.values():
            if not self.world.guild_is_unavailable:
                self.deliver("GUILD_CREATE", plain(serializers.guild_create_payload(backend, guild)))

    def deliver(self, event: str, payload: dict) -> None:
        """Sends an event, or as much of it as the bot may have."""
        backend, payload = self.world.backend, plain(payload)
        of_bot = str((payload.get("user") or {}).get("id")) == str(backend.bot_user.id)
        intent = rules.required_intent(event, payload)
        if intent and not getattr(self.intents, intent) and not (event == "GUILD_MEMBER_UPDATE" and of_bot):
            return
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and not self.intents.message_content:
            rules.censor_message(payload, backend.bot_user.id, backend=backend)
        if event in ("GUILD_CREATE", "GUILD_UPDATE"):
            payload = complete_guild(payload)
            rules.prune_guild_create(payload, self.intents, backend.bot_user.id)
        self.dispatch(event, payload)

    def dispatch(self, event: str, payload: dict) -> None:
        frame = {"op": 0, "t": event, "s": len(self.sent) + 1, "d": payload}
        self.sent.append(frame)
        if self.socket is not None:
            (self.late if self.world.is_hushed else self.queue).put_nowait(frame)

    def catch_up(self) -> None:
        while not self.late.empty():
            self.queue.put_nowait(self.late.get_nowait())


async def write(socket: web.WebSocketResponse, queue: asyncio.Queue) -> None:
    while (frame := await queue.get()) is not CLOSED and not socket.closed:
        await send(socket, frame)


async def send(socket: web.WebSocketResponse, frame: dict) -> None:
    try:
        await socket.send_str(json.dumps(frame, default=str))
    except ConnectionError:
        pass  # The bot was killed. What it missed is kept for a resumption.
