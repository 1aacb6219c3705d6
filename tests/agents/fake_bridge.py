"""Stands where `countersign acp` stands, to see that the tests of the wire can fail.

    fake_bridge.py MODE -- AGENT...

    pass      carries everything
    refuse    withholds permission requests and refuses them, as it should be
    twice     answers each permission request twice
    allow     selects each permission request's first option
    rewrite   as `refuse`, but parses and prints what it carries
    reorder   as `refuse`, but the agent's first notification is overtaken by the next line
"""

import json
import os
import subprocess
import sys
import threading

mode, _, *agent = sys.argv[1:]
agent = subprocess.Popen(agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
to_agent = threading.Lock()
withheld: set[str] = set()


def carried(line: bytes) -> bytes:
    return json.dumps(json.loads(line)).encode() + b"\n" if mode == "rewrite" else line


def send(line: bytes) -> None:
    with to_agent:
        agent.stdin.write(line)
        agent.stdin.flush()


def from_client() -> None:
    for line in sys.stdin.buffer:
        send(carried(line))
    agent.stdin.close()


def outcome(frame: dict) -> dict:
    options = frame["params"]["options"]
    chosen = options if mode == "allow" else [option for option in options if option["kind"] == "reject_once"]
    return {"outcome": "selected", "optionId": chosen[0]["optionId"]} if chosen else {"outcome": "cancelled"}


def is_withheld(frame: dict) -> bool:
    if frame.get("method") == "session/request_permission":
        withheld.add(json.dumps(frame["id"]))
        answer = {"jsonrpc": "2.0", "id": frame["id"], "result": {"outcome": outcome(frame)}}
        for _ in range(2 if mode == "twice" else 1):
            send(json.dumps(answer).encode() + b"\n")
        return True
    return frame.get("method") == "$/cancel_request" and json.dumps(frame["params"]["requestId"]) in withheld


threading.Thread(target=from_client, daemon=True).start()
overtaken = [b""] if mode == "reorder" else []
for line in agent.stdout:
    if mode != "pass" and is_withheld(json.loads(line)):
        continue
    if overtaken == [b""] and "id" not in json.loads(line):
        overtaken = [line]
        continue
    sys.stdout.buffer.write(carried(line))
    if overtaken != [b""]:
        sys.stdout.buffer.write(b"".join(overtaken))
        overtaken = []
    sys.stdout.buffer.flush()
code = agent.wait()
sys.stdout.buffer.flush()
# At once, because the other thread may still hold standard input.
os._exit(code)
