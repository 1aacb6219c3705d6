"""An agent that plays a list of steps, for tests in which every byte counts.

    raw_agent.py STEPS --received FILE [--patience SECONDS]

STEPS is a file with one JSON object a line:

    {"send": TEXT or OBJECT}    writes it as a line
    {"write_bytes": BASE64}     writes bytes as they are
    {"expect": OBJECT}          waits for a line on standard input that contains it; each line is used once
    {"sleep_ms": NUMBER}        waits, still reading
    {"close_stdout": true}
    {"log_stdin": FILE}         from here on, FILE gets what is received, too
    {"exit": CODE}              ends at once

After the last step it waits for its input to end. FILE gets everything from standard input, byte for byte.
"""

import argparse
import base64
import json
import os
import sys
import threading

arguments = argparse.ArgumentParser()
arguments.add_argument("steps")
arguments.add_argument("--received", required=True)
arguments.add_argument("--patience", type=float, default=30)
arguments = arguments.parse_args()

changed = threading.Condition()
lines: list[object] = []
logs = [open(arguments.received, "ab", buffering=0)]
ended = False


def read() -> None:
    global ended
    for line in sys.stdin.buffer:
        for log in logs:
            log.write(line)
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        with changed:
            lines.append(frame)
            changed.notify_all()
    with changed:
        ended = True
        changed.notify_all()


def contains(frame: object, wanted: object) -> bool:
    if isinstance(wanted, dict):
        return isinstance(frame, dict) and all(key in frame and contains(frame[key], wanted[key]) for key in wanted)
    return type(frame) is type(wanted) and frame == wanted


def take(wanted: object) -> bool:
    for at, frame in enumerate(lines):
        if contains(frame, wanted):
            del lines[at]
            return True
    return False


def stop(code: int, why: str = "") -> None:
    if why:
        print(f"raw agent: {why}", file=sys.stderr, flush=True)
    os._exit(code)


def play(step: dict) -> None:
    [(what, value)] = step.items()
    if what == "send":
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        write(text.encode() + b"\n")
    elif what == "write_bytes":
        write(base64.b64decode(value))
    elif what == "expect":
        with changed:
            found = changed.wait_for(lambda: take(value) or (ended and "ended"), arguments.patience)
        if found is not True:
            stop(3, f"{'the input ended before' if found else 'waited in vain for'} {json.dumps(value)[:500]}")
    elif what == "sleep_ms":
        threading.Event().wait(value / 1000)
    elif what == "close_stdout":
        os.close(1)
    elif what == "log_stdin":
        logs.append(open(value, "ab", buffering=0))
    elif what == "exit":
        stop(value)
    else:
        stop(2, f"no step {what!r}")


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]


reader = threading.Thread(target=read, daemon=True)
reader.start()
with open(arguments.steps, encoding="utf-8") as steps:
    for step in steps:
        play(json.loads(step))
reader.join()
