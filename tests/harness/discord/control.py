"""How a test acts: as people, as a moderator, and as fate."""

import time

import discord
from aiohttp import web
from simcord import interactions
from simcord.backend import serializers
from simcord.backend.access import message_accessible
from simcord.backend.errors import BackendError, SetupError
from simcord.backend.models import Message, Overwrite
from simcord.enums import ComponentType, InteractionType, OverwriteType

from world import TOKEN, World, custom_ids, plain

GOING_AWAY = 1001


class Control:
    def __init__(self, world: World) -> None:
        self.world, self.backend = world, world.backend

    async def act(self, request: web.Request) -> web.Response:
        act = getattr(self, "do_" + request.match_info["act"], None)
        if act is None:
            raise web.HTTPNotFound()
        try:
            result = act(**await request.json())
            result = await result if hasattr(result, "__await__") else result
        except (BackendError, SetupError, LookupError, TypeError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=409)
        return web.json_response(plain(result))

    # What there is.

    def do_world(self) -> dict:
        world = self.world
        return {
            "token": TOKEN,
            "application": str(self.backend.application_id),
            "bot": str(self.backend.bot_user.id),
            "guild": str(world.guild.id),
            "channel": str(world.channel.id),
            "people": {name: str(person.id) for name, person in world.people.items()},
        }

    def do_messages(self, channel: str | None = None) -> list:
        """All that is public in a channel or thread, oldest first."""
        of_channel = self.backend.messages.get(self._channel(channel), {})
        return [self._seen(message) for message in of_channel.values() if not message.is_ephemeral]

    def do_messages_everywhere(self) -> list:
        return [message for channel in self.backend.messages for message in self.do_messages(str(channel))]

    def do_threads(self) -> list:
        """All that there are, oldest first."""
        threads = [channel for channel in self.backend.channels.values() if channel.is_thread]
        return [serializers.channel_payload(self.backend, thread) for thread in threads]

    def do_ephemerals(self, user: str) -> list:
        """What this user alone was told, oldest first."""
        messages = [message for of_channel in self.backend.messages.values() for message in of_channel.values()]
        return [self._seen(m) for m in messages if m.is_ephemeral and m.visible_to(int(user))]

    def do_interaction(self, interaction: str) -> dict:
        """A click as the bot was told of it, and what it did about it, and after how many seconds."""
        record, event = self.backend.interactions[int(interaction)], self.world.interactions[int(interaction)]
        after = self.world.acknowledged_after.get(interaction)
        return {"event": event, "responded": record.responded, "kind": record.response_kind, "after": after}

    def do_requests(self) -> list:
        return self.world.requests

    def do_sessions(self) -> int:
        """How many connections to the gateway there are."""
        return sum(session.socket is not None for session in self.world.sessions.values())

    # What people do.

    def do_click(self, user: str, message: str, custom_id: str, patch: dict | None = None) -> str:
        """Presses a button that the message shows or has shown; the interaction's id.

        `patch` changes the event, null removes: the click is then sent though no client could make it.
        """
        user_id, stored = int(user), self.world.find_message(int(message))
        seen = plain(serializers.message_payload(self.backend, stored))
        if patch is None:
            # No event tells of what one person alone is shown.
            shown = self.world.ever_shown.get(stored.id, set()) | set(custom_ids(seen["components"]))
            if custom_id not in shown:
                raise SetupError(f"the message has no button {custom_id}")
            if not message_accessible(self.backend, stored.channel_id, stored, user_id):
                raise SetupError("the message is not visible to that user")
        guild = self.world.guild
        data = {"custom_id": custom_id, "component_type": int(ComponentType.BUTTON), "id": 1}
        record, event = interactions.base_payload(
            self.backend,
            type=InteractionType.MESSAGE_COMPONENT,
            channel_id=stored.channel_id,
            guild_id=guild.id if user_id in guild.members else None,
            user_id=user_id,
            data=data,
        )
        record.source_message_id = stored.id
        if (metadata := seen.get("interaction_metadata")) and metadata["type"] == int(InteractionType.MESSAGE_COMPONENT):
            # simcord leaves out what Discord always says of a message that follows a click.
            metadata["interacted_message_id"] = self.world.interactions[int(metadata["id"])]["message"]["id"]
        owners = {"0": str(guild.id)}
        event = plain({**event, "message": seen, "authorizing_integration_owners": owners, "context": 0})
        for key, value in (patch or {}).items():
            event[key] = value
        event = {key: value for key, value in event.items() if value is not None}
        self.world.interactions[record.id] = event
        self._deliver(event)
        return str(record.id)

    def do_deliver_again(self, interaction: str) -> None:
        """The same click, as after a resumption that replays too much."""
        self._deliver(self.world.interactions[int(interaction)])

    def do_say(self, user: str, content: str, channel: str | None = None, reply_to: str | None = None) -> str:
        channel_id = self._channel(channel)
        reference = {"channel_id": str(channel_id), "message_id": reply_to} if reply_to else None
        return str(self.backend.create_message(channel_id, int(user), content, reference=reference).id)

    def do_leave(self, user: str) -> None:
        self.backend.remove_member(self.world.guild.id, int(user))

    def do_join(self, user: str) -> None:
        self.backend.add_member(self.world.guild.id, int(user), announce=True)

    # What moderators do.

    def do_delete_messages(self, messages: list[str]) -> None:
        """One by one it is an event of its own for each, several at once are one event."""
        channel = self.world.find_message(int(messages[0])).channel_id
        if len(messages) == 1:
            self.backend.delete_message(channel, int(messages[0]))
        else:
            self.backend.bulk_delete_messages(channel, [int(message) for message in messages])

    def do_delete_channel(self, channel: str | None = None) -> None:
        self.backend.delete_channel(self._channel(channel))

    def do_kick_bot(self) -> None:
        # simcord would forget the guild as a whole; people are still in it.
        self.world.emit("GUILD_DELETE", {"id": str(self.world.guild.id)})
        self.world.bot_was_kicked = True
        self.backend.remove_member(self.world.guild.id, self.backend.bot_user.id)

    def do_invite_bot(self) -> None:
        """After it was kicked; with what it was allowed before."""
        self.world.bot_was_kicked = False
        self.backend.add_member(self.world.guild.id, self.backend.bot_user.id, roles=self.world.bot_roles)
        self.world.emit("GUILD_CREATE", serializers.guild_create_payload(self.backend, self.world.guild))

    def do_deny(self, target: str, permissions: list[str], channel: str | None = None) -> None:
        """Takes permissions from a member or a role in the channel."""
        deny = discord.Permissions(**dict.fromkeys(permissions, True)).value
        is_role = int(target) in self.world.guild.roles
        kind = OverwriteType.ROLE if is_role else OverwriteType.MEMBER
        self.backend.set_overwrite(self._channel(channel), Overwrite(target_id=int(target), type=kind, deny=deny))

    def do_allow(self, target: str, channel: str | None = None) -> None:
        """Gives back what was denied in the channel."""
        self.backend.delete_overwrite(self._channel(channel), int(target))

    def do_make_role(self, name: str, permissions: list[str] | None = None) -> str:
        bits = discord.Permissions(**dict.fromkeys(permissions or [], True)).value
        return str(self.backend.create_role(self.world.guild.id, name, permissions=bits).id)

    def do_set_roles(self, user: str, roles: list[str]) -> None:
        self.backend.edit_member(self.world.guild.id, int(user), {"role_ids": [int(role) for role in roles]})

    def do_delete_role(self, role: str) -> None:
        self.backend.delete_role(self.world.guild.id, int(role))

    def do_time_out(self, user: str, seconds: float) -> None:
        until = self.backend.iso_after(seconds)
        self.backend.edit_member(self.world.guild.id, int(user), {"timed_out_until": until})

    def do_make_thread(self, name: str, channel: str | None = None) -> str:
        return str(self.backend.create_thread(self._channel(channel), name, self.world.owner.id).id)

    def do_archive_thread(self, thread: str, archived: bool = True, locked: bool = False) -> None:
        self.backend.edit_channel(int(thread), {}, thread_metadata={"archived": archived, "locked": locked})

    # What fate does.

    def do_advance(self, seconds: float) -> None:
        self.backend.clock.advance(seconds)

    def do_fault(self, kind: str, method: str = "*", path: str = "*", times: int = 1, **more) -> None:
        """The next requests like this one meet a `status`, a `rate_limit`, a `delay`, `lose_answer`, or a `lie`."""
        self.world.faults.append({"kind": kind, "method": method, "path": path, "times": times, **more})

    async def do_drop(self, code: int = 4000, resumable: bool = True) -> None:
        """Closes the bot's connections to the gateway."""
        sockets = [session.socket for session in self.world.sessions.values() if session.socket is not None]
        if not resumable:
            self.world.sessions.clear()
        for socket in sockets:
            await socket.close(code=code, drain=False)

    async def do_down(self) -> None:
        self.world.is_down = True
        await self.do_drop(GOING_AWAY)

    def do_up(self) -> None:
        self.world.is_down = False

    def do_guild_outage(self, over: bool = False) -> None:
        world, guild = self.world, self.world.guild
        world.guild_is_unavailable = not over
        if over:
            world.emit("GUILD_CREATE", serializers.guild_create_payload(self.backend, guild))
        else:
            world.emit("GUILD_DELETE", {"id": str(guild.id), "unavailable": True})

    def do_guild_flickers(self, times: int) -> None:
        """Outages that are over at once, told in one go, as after a resumption."""
        for _ in range(times):
            self.do_guild_outage()
            self.do_guild_outage(over=True)

    def do_hush(self, over: bool = False) -> None:
        """The gateway is late: what happens meanwhile is told once it is over."""
        self.world.is_hushed = not over
        for session in self.world.sessions.values() if over else ():
            session.catch_up()

    def do_set_interactions_endpoint(self, url: str | None) -> None:
        self.world.interactions_endpoint_url = url

    def _deliver(self, event: dict) -> None:
        if self.world.interactions_endpoint_url is None and not self.world.is_down:
            self.world.delivered_at[event["id"]] = time.monotonic()
            self.world.emit("INTERACTION_CREATE", event)

    def _channel(self, channel: str | None) -> int:
        return self.world.channel.id if channel is None else int(channel)

    def _seen(self, message: Message) -> dict:
        """A message as clients have it, with the texts of its files."""
        texts = {file["filename"]: self.backend.cdn.get(file["url"]) for file in message.attachments}
        texts = {name: data.decode(errors="replace") for name, data in texts.items() if data is not None}
        return {**serializers.message_payload(self.backend, message), "file_texts": texts}
