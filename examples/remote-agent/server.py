"""A remote agent in Python that answers in one piece, and only agents of your organisation at Perch:

pip install 'perch-sdk[verify]'
export PERCH_URL=https://perch.example PERCH_ORGANISATION=org_… PUBLIC_ORIGIN=https://agent.example PORT=8802
python3 examples/remote-agent/server.py
"""

import json, os, threading  # fmt: skip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from perch_sdk import MemoryReplayStore, RequestVerificationError, verify_request

PORT = int(os.environ.get("PORT", "8802"))
PERCH_URL = os.environ["PERCH_URL"]  # its keys say which calls are from Perch
# `perch whoami` shows it. Perch signs for everybody who has an agent there, and each of them can give it this address.
PERCH_ORGANISATION = os.environ["PERCH_ORGANISATION"]
# By which Perch calls this service, whatever a proxy in between makes of it.
PUBLIC_ORIGIN = os.environ.get("PUBLIC_ORIGIN", f"http://127.0.0.1:{PORT}")
# If this service runs as several processes, they must share a store.
replay_store = MemoryReplayStore()


def reply(question: dict) -> str:
    """Your agent."""
    turn = sum(message["role"] == "user" for message in question["history"]) + 1
    return f"Turn {turn}: {question['context']['user_id'] or 'a user'} said {question['message']}"


# Answers by idempotency key. A retried request gets the first answer again. Store them in a database in production.
answers: dict[str, str] = {}
lock = threading.Lock()


class Agent(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            verify_request(
                method=self.command,
                url=self.path,
                headers=self.headers,
                body=body,
                origin=PUBLIC_ORIGIN,
                directory=PERCH_URL,
                organisation=PERCH_ORGANISATION,
                replay_store=replay_store,
            )
        except RequestVerificationError as error:
            self.respond(error.status, {"error": str(error)})
            return
        question = json.loads(body)
        key = self.headers["idempotency-key"]
        with lock:
            text = answers[key] if key in answers else answers.setdefault(key, reply(question))
        self.respond(200, {"response": text, "tokens_used": len(text.split(" "))})

    def respond(self, status: int, answer: dict) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


ThreadingHTTPServer.request_queue_size = 128  # The default of 5 is too small when many runs start together.
ThreadingHTTPServer(("127.0.0.1", PORT), Agent).serve_forever()
