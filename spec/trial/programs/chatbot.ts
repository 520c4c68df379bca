import { NotFoundError, Perch } from "@perch/sdk";

const perch = new Perch(); // PERCH_URL and PERCH_API_KEY
const agent = "typescript-chatbot";
const context = { user_id: "ada", session_id: `chat-${Date.now()}` };

await perch.agents.create({ name: agent, model: "local/llama3.2", instructions: "Answer in one sentence." });

for (const message of process.argv.slice(2)) {
  let pieces = 0;
  const stream = perch.agents.invokeStream(agent, { message, context });
  for await (const event of stream) {
    if (event.type !== "token") continue;
    pieces += 1;
    process.stdout.write(event.text);
  }
  const { tokens_used } = await stream.result();
  console.log(`\n[${pieces > 1 ? "streamed" : "in one piece"}, ${tokens_used > 0 ? "tokens counted" : "no tokens"}]`);
}

const reply = await perch.agents.invoke(agent, { message: "And without a stream?", context });
console.log(reply.response);

// @ts-expect-error: a misspelt field does not compile, so the package's types are those of the API and not `any`.
reply.respnse;

try {
  await perch.agents.invoke("nobody", { message: "Is anybody there?" });
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(`Refused: ${error.status} ${error.code}: ${error.message}`);
}
