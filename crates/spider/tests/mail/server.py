"""A mail server on loopback (aiosmtpd) that writes down what it receives, as Python's own library reads it.

Argument: JSON with folder, and optionally certificate, key, wrapped (TLS from the first byte), user, password,
without (mechanisms that are not offered), hang_up (the connection ends after each message).
Recipients that begin with "refused" or "busy" are not taken.
"""

import asyncio
import email
import email.policy
import json
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

settings = json.loads(sys.argv[1])


class Box:
    def __init__(self):
        self.received = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 5.1.1 nobody of that name here"
        if address.startswith("busy"):
            return "451 4.7.1 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.original_content, policy=email.policy.default)
        plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
        self.received += 1
        report = {
            "sender": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or bool(settings.get("wrapped")),
            "login": session.auth_data,
            "headers": [[name, str(value)] for name, value in message.items()],
            "kind": message.get_content_type(),
            "kinds": [part.get_content_type() for part in message.iter_parts()],
            "text": plain.get_content().replace("\r\n", "\n"),
            "html": html.get_content().replace("\r\n", "\n"),
            "defects": [repr(defect) for part in message.walk() for defect in part.defects],
        }
        path = os.path.join(settings["folder"], "%04d.json" % self.received)
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(report, file)
        os.rename(path + ".part", path)
        if settings.get("hang_up"):
            asyncio.get_running_loop().call_later(0.05, hang_up, server, path)
        return "250 taken"


def hang_up(server, path):
    # At once, so that whoever sees the file will find the connection closed.
    server.transport.abort()
    asyncio.get_running_loop().call_soon(lambda: open(path + ".closed", "w").close())


def authenticator(server, session, envelope, mechanism, data):
    given = isinstance(data, LoginPassword) and (data.login.decode(), data.password.decode())
    if given == (settings["user"], settings["password"]):
        return AuthResult(success=True, auth_data=[mechanism, settings["user"]])
    return AuthResult(success=False, handled=False)


async def main():
    context = None
    if settings.get("certificate"):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(settings["certificate"], settings["key"])
    wrapped = settings.get("wrapped")
    options = {}
    if context and not wrapped:
        options.update(tls_context=context, require_starttls=True)
    if settings.get("user"):
        # Within a connection that is wrapped, aiosmtpd does not know that it is.
        options.update(authenticator=authenticator, auth_required=True, auth_require_tls=not wrapped)
        options.update(auth_exclude_mechanism=settings.get("without", []))
    box = Box()
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(box, hostname="box.example", enable_SMTPUTF8=True, **options),
        "127.0.0.1",
        0,
        ssl=context if wrapped else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
