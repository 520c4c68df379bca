import { lastUserMessage, type ModelCall } from "@perch/testkit/servers/script-server.ts";

/** The model of every run. It calls the tool that the message names once, and then repeats the result. */
export function playModel(call: ModelCall): object {
  const { tool, note } = JSON.parse(lastUserMessage(call)) as { tool: string; note: string };
  const told = call.messages.findLast(({ role }) => role === "tool");
  if (told) return { reply: told.content || "(nothing)", tokens: 1 };
  return { tool_calls: [{ name: tool, arguments: { note } }], tokens: 1 };
}
