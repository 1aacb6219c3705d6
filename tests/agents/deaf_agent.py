"""An agent that asks, and then does not read until it is let.

    deaf_agent.py REQUEST GATE RECEIVED

Sends the line REQUEST. Once a long line has filled its input it says so with the notification `_full`. It reads when
somebody has written to the named pipe GATE, and ends instead if that is `end`; the file RECEIVED gets everything.
"""

import fcntl
import struct
import sys
import termios
import threading

# What a pipe holds at least.
LEAST = 4096

request, gate, received = sys.argv[1:]
fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, LEAST)
print(request, flush=True)
waiting = 0
while waiting < LEAST:
    threading.Event().wait(0.01)
    [waiting] = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, b"\0" * 4))
print('{"jsonrpc":"2.0","method":"_full"}', flush=True)
with open(gate) as opened:
    if opened.read() == "end":
        sys.exit()
with open(received, "wb", buffering=0) as log:
    for line in sys.stdin.buffer:
        log.write(line)
