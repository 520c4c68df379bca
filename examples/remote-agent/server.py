"""A remote agent in Python that answers in one piece: PORT=8802 python3 examples/remote-agent/server.py"""

import json, os, threading  # fmt: skip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(question: dict) -> str:
    """Your agent."""
    turn = sum(said["role"] == "user" for said in question["history"]) + 1
    return f"Turn {turn}: {question['context']['user_id'] or 'somebody'} said {question['message']}"


# A retried request has the same key: it gets the first answer, and nothing is done twice. Keep them in a database if it matters.
answers: dict[str, str] = {}
one_at_a_time = threading.Lock()


class Agent(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers["idempotency-key"]
        with one_at_a_time:
            text = answers[key] if key in answers else answers.setdefault(key, reply(question))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"response": text, "tokens_used": len(text.split(" "))}).encode())


ThreadingHTTPServer.request_queue_size = 128  # It is 5 unless set: too few when many runs begin together.
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8802"))), Agent).serve_forever()
