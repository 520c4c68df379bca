import sys
import time

from perch_sdk import NotFoundError, Perch, RunToken

AGENT = "python-chatbot"

perch = Perch()  # PERCH_URL and PERCH_API_KEY
context = {"user_id": "ada", "session_id": f"chat-{time.time_ns()}"}

perch.agents.create(name=AGENT, model="local/llama3.2", instructions="Answer in one sentence.")

for message in sys.argv[1:]:
    pieces = 0
    for event in perch.agents.invoke_stream(AGENT, message=message, context=context):
        if isinstance(event, RunToken):
            pieces += 1
            print(event.text, end="", flush=True)
    print(f"\n[{'streamed' if pieces > 1 else 'in one piece'}]")

print(perch.agents.invoke(AGENT, message="And without a stream?", context=context).response)

try:
    perch.agents.invoke("nobody", message="Is anybody there?")
except NotFoundError as error:
    print(f"Refused: {error.status} {error.code}: {error}")
