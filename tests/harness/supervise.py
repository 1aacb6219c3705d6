"""Runs Synapse until standard input ends, then kills it.

The test binary holds the other end of that pipe: its statics are never dropped, and it may be killed itself.

    supervise.py HOME     HOME holds homeserver.yaml; it is deleted at the end, unless the last word was "keep"
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading

home = sys.argv[1]
ready = os.path.join(home, "ready.sock")


def tell_end(child: subprocess.Popen) -> None:
    child.wait()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        try:
            told.sendto(b"ENDED", ready)
        except OSError:
            pass  # Nobody waits for it to be ready any more.


with open(os.path.join(home, "out"), "ab") as out:
    synapse = subprocess.Popen(
        [sys.executable, "-m", "synapse.app.homeserver", "-c", os.path.join(home, "homeserver.yaml")],
        cwd=home,
        env=os.environ | {"NOTIFY_SOCKET": ready},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        start_new_session=True,
    )
waiter = threading.Thread(target=tell_end, args=(synapse,), daemon=True)
waiter.start()
print(synapse.pid, flush=True)
word = b""
try:
    word = sys.stdin.buffer.read()
finally:
    try:
        os.killpg(synapse.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    waiter.join()
    if word != b"keep":
        shutil.rmtree(home, ignore_errors=True)
