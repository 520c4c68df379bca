import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** Asks the tool for the order, and then says what it was told. */
const { url } = await startOpenAiServer(({ body }) => {
  const told = ((body.messages ?? []) as readonly Message[]).findLast(({ role }) => role === "tool");
  if (!told) return { toolCalls: [{ name: "docs_lookup_order", arguments: { id: "42" } }] };
  const { status } = JSON.parse(String(told.content)) as { status: string };
  return { text: `Your order is ${status}. It will be with you soon.`, tokenDelayMs: 50 };
});

console.log(`model server at ${url}`);
