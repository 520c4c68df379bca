import { createServer } from "node:http";

/**
 * The agent. `message` is the new message, `history` has the earlier messages of the session, and `context` has user_id,
 * session_id and environment. The same request may come again after a failure, with the same `request_id`: do it once.
 */
async function answer({ message, history, context }) {
  const turn = history.filter(({ role }) => role === "user").length + 1;
  return { response: `Turn ${turn}: ${context.user_id ?? "a user"} said: ${message}`, tokens_used: 0 };
}

const server = createServer(async (request, response) => {
  if (request.method !== "POST") {
    response.writeHead(204).end();
    return;
  }
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.stringify(await answer(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  } catch (error) {
    console.error(error);
    // 5xx is tried again, 4xx is not.
    response.writeHead(500).end();
  }
});

server.listen(8801, "127.0.0.1", () => console.log("my-agent listens on http://127.0.0.1:8801/agent"));
