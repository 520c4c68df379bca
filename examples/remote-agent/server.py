"""A remote agent in Python that answers in one piece: PORT=8802 python3 examples/remote-agent/server.py"""

import json, os, threading  # fmt: skip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(question: dict) -> str:
    """Your agent."""
    turn = sum(message["role"] == "user" for message in question["history"]) + 1
    return f"Turn {turn}: {question['context']['user_id'] or 'somebody'} said {question['message']}"


# Answers by idempotency key: a retried request gets the first answer again. Keep them in a database in production.
answers: dict[str, str] = {}
lock = threading.Lock()


class Agent(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers["idempotency-key"]
        with lock:
            text = answers[key] if key in answers else answers.setdefault(key, reply(question))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"response": text, "tokens_used": len(text.split(" "))}).encode())


ThreadingHTTPServer.request_queue_size = 128  # The default of 5 is too small when many runs start together.
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8802"))), Agent).serve_forever()
