import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { lastUserMessage, startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import type { Trial } from "./trial.ts";

export interface OrderModel {
  readonly url: string;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

interface Tool {
  readonly function: { readonly name: string };
}

const orderTool = (tools: readonly Tool[]): string | undefined =>
  tools.map(({ function: { name } }) => name).find((name) => name.endsWith("lookup_order"));

/** A model with OpenAI's protocol: it looks an order up if it has the tool, and says in which turn of the conversation it is. */
async function startOrderModel(): Promise<OrderModel & { readonly close: () => Promise<void> }> {
  return startOpenAiServer((call) => {
    const messages = (call.body.messages ?? []) as readonly Message[];
    const tool = orderTool((call.body.tools ?? []) as readonly Tool[]);
    const found = messages.at(-1)?.role === "tool" ? String(messages.at(-1)?.content) : undefined;
    if (tool && found === undefined) return { toolCalls: [{ name: tool, arguments: { id: "42" } }] };
    if (found !== undefined) return { text: `The tool answered: ${found}` };
    const turn = messages.filter(({ role }) => role === "user").length;
    return { text: `This is turn ${turn}, and you asked: ${lastUserMessage(call)}`, tokenDelayMs: 20 };
  });
}

/** The user's model, known to the server that `perch dev` runs under the name that the template has. */
export async function ensureModel(trial: Trial): Promise<OrderModel> {
  if (trial.made.model) return trial.made.model;
  const model = await startOrderModel();
  trial.onEnd(model.close);
  const words = ["providers", "add", "local", "--base-url", model.url, "--api-key-env", "LLM_API_KEY"];
  await trial.run(["perch", ...words], { env: { LLM_API_KEY: modelServerKey } });
  trial.make({ model });
  return model;
}
