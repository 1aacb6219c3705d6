"""Runs a program where there is no network but loopback, and says whether it tried to reach anything else.

    unshare --net ... only_loopback.py PROGRAM ARGUMENT...

Ends with the program's exit status, or with 120 if the program tried to reach another host: the kernel counts each
attempt for which there is no route. Ends with 121 if that count does not rise when it should.
"""

import fcntl
import socket
import struct
import subprocess
import sys
from pathlib import Path

SIOCSIFFLAGS, IFF_UP = 0x8914, 1
SIOCADDRT, RTF_UP, RTF_HOST, LOOPBACK_INDEX = 0x890B, 1, 4, 1
# Chromium tells by a route to this address whether there is IPv6: it connects a datagram socket, which sends nothing.
ASKED_BY_CHROMIUM = "2001:4860:4860::8888"
TRIED, BLIND = 120, 121
# From the ranges that are kept for documentation.
ELSEWHERE = [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")]


def attempts() -> list[int]:
    """How often somebody wanted to send to a host to which there is no route, by IPv4 and by IPv6."""
    names, values = (line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Ip:"))
    six = dict(line.split() for line in Path("/proc/net/snmp6").read_text().splitlines())
    return [int(values[names.index("OutNoRoutes")]), int(six["Ip6OutNoRoutes"])]


def try_to_reach(family: int, kind: int, host: str) -> None:
    with socket.socket(family, kind) as attempt:
        try:
            attempt.connect((host, 443))
        except OSError:
            return
        raise SystemExit(f"{host} can be reached")


def main() -> int:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP, b""))
    with socket.socket(socket.AF_INET6) as any_socket:
        host = socket.inet_pton(socket.AF_INET6, ASKED_BY_CHROMIUM)
        route = struct.pack("@16s32xIHHILIi", host, 0, 128, 0, 1, 0, RTF_UP | RTF_HOST, LOOPBACK_INDEX)
        fcntl.ioctl(any_socket, SIOCADDRT, route)
    before = attempts()
    code = subprocess.run(sys.argv[1:]).returncode
    during = [after - earlier for earlier, after in zip(before, attempts())]
    print(f"attempts to reach another host: {during}", flush=True)
    for which, (family, host) in enumerate(ELSEWHERE):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            earlier = attempts()[which]
            try_to_reach(family, kind, host)
            if attempts()[which] <= earlier:
                print(f"an attempt to reach {host} was not counted")
                return BLIND
    return TRIED if any(during) else code


sys.exit(main())
