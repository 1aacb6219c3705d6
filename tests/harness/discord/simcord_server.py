"""Serves simcord's model of Discord on loopback until standard input ends.

    simcord_server.py TLS     TLS holds cert.pem and key.pem for discord.com

Prints {"http": PORT, "https": PORT} in one line once it listens. The API and the gateway are those of Discord, as far as
simcord has them; /_test/ is how a test acts as people, as a moderator, and as fate. A process serves one bot, in one guild.
"""

import asyncio
import json
import ssl
import sys
from pathlib import Path

from aiohttp import web

from control import Control
from gateway import Gateway
from rest import Rest
from world import World


async def serve(tls: Path) -> None:
    world = World()
    app = web.Application(client_max_size=64 << 20)
    app.router.add_get("/", Gateway(world).connect)
    app.router.add_route("*", "/api/v10/{path:.*}", Rest(world).answer)
    app.router.add_post("/_test/{act}", Control(world).act)
    # Nobody reads what is still under way when the tests end.
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
    http, https = web.TCPSite(runner, "127.0.0.1", 0), web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await http.start()
    await https.start()
    ports = [address[1] for address in runner.addresses]
    world.gateway_url = f"ws://127.0.0.1:{ports[0]}"
    print(json.dumps({"http": ports[0], "https": ports[1]}), flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)


asyncio.run(serve(Path(sys.argv[1])))
