"""One guild with a channel, a bot and people, and what fate has in store for requests."""

import fnmatch
import json
from datetime import UTC, datetime, timedelta

from simcord._clock import Clock
from simcord.backend import Backend
from simcord.backend.models import Message

TOKEN = "MTA1.test.bot-token-that-nobody-may-see"
PEOPLE = ("ada", "bob", "mallory")


class LiveClock(Clock):
    """The real time, and what a test has added: the bot compares ids, which carry a time, with its own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.elapsed)


class World:
    def __init__(self) -> None:
        self.backend = Backend(clock=LiveClock())
        self.gateway_url = ""
        # All REST answers 503, and the gateway lets nobody in.
        self.is_down = False
        # Discord's own trouble with the guild: it is there, and cannot be reached.
        self.guild_is_unavailable = False
        self.bot_was_kicked = False
        self.is_hushed = False
        # While it is set, clicks go there and not to the gateway.
        self.interactions_endpoint_url: str | None = None
        self.requests: list[dict] = []
        self.faults: list[dict] = []
        # Posts with a nonce to enforce: (channel, nonce) -> message, when.
        self.nonces: dict[tuple[int, str], tuple[int, datetime]] = {}
        # All buttons that a message has ever shown: a click may be under way while they are taken off.
        self.ever_shown: dict[int, set[str]] = {}
        # What INTERACTION_CREATE said, by interaction.
        self.interactions: dict[int, dict] = {}
        # By interaction: when the bot was told, and how long it took to acknowledge, in seconds.
        self.delivered_at: dict[str, float] = {}
        self.acknowledged_after: dict[str, float] = {}
        self.sessions: dict[str, object] = {}

        make = self.backend.make_user
        self.owner = make("owner")
        self.people = {name: make(name, global_name=name.capitalize()) for name in PEOPLE}
        self.guild = self.backend.create_guild("A guild", owner_id=self.owner.id)
        for person in self.people.values():
            self.backend.add_member(self.guild.id, person.id)
        self.channel = self.backend.create_channel(self.guild.id, "approvals")
        self.bot_roles = list(self.guild.members[self.backend.bot_user.id].role_ids)
        self.backend.subscribers.append(self._on_event)

    def find_message(self, message_id: int) -> Message:
        for of_channel in self.backend.messages.values():
            if message_id in of_channel:
                return of_channel[message_id]
        raise LookupError(f"there is no message {message_id}")

    def fault_for(self, method: str, path: str) -> dict | None:
        """The fault that this request meets, which uses it up."""
        for fault in self.faults:
            if fnmatch.fnmatch(method, fault["method"]) and fnmatch.fnmatch(path, fault["path"]):
                fault["times"] -= 1
                self.faults = [fault for fault in self.faults if fault["times"] > 0]
                return fault
        return None

    def emit(self, event: str, payload: dict) -> None:
        self.backend.emit(event, payload)

    def _on_event(self, event: str, payload: dict) -> None:
        if self.bot_was_kicked:
            return
        payload = plain(payload)
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            shown = self.ever_shown.setdefault(int(payload["id"]), set())
            shown.update(custom_ids(payload.get("components") or []))
        for session in list(self.sessions.values()):
            session.deliver(event, payload)


def custom_ids(components: list) -> list[str]:
    inside = [custom_id for component in components for custom_id in custom_ids(component.get("components") or [])]
    return inside + [component["custom_id"] for component in components if component.get("custom_id")]


def plain(payload: object) -> dict:
    """A copy of nothing but JSON."""
    return json.loads(json.dumps(payload, default=str))


def complete_guild(payload: dict) -> dict:
    """simcord leaves out what clients rely on."""
    return {"nsfw_level": 0, **payload}
