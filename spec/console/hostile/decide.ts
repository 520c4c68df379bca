import { askFor, createApp } from "@perch/testkit/console/stories/decide.ts";
import { inject } from "vitest";
import { Perch } from "../../../packages/sdk/src/index.ts";
import { type HostileArea, hostile, longWord, markup } from "./hostile-area.ts";

const script = (...steps: object[]): string => JSON.stringify({ steps });

const written = { type: "string", description: hostile, enum: [hostile, markup] };
const schema = {
  type: "object" as const,
  properties: { [markup]: written, [hostile]: { type: "array", items: written, description: markup }, text: {} },
  required: [markup],
};

/** Two agents, one that asks for a call and one that asks a question, with hostile text in every field. */
async function createAgents(perch: Perch): Promise<void> {
  const args = {
    [markup]: hostile,
    [hostile]: [markup],
    text: hostile,
    word: longWord,
    lines: `${hostile}\n${markup}`,
  };
  await perch.agents.create({
    name: "hostile-call",
    model: "perch/script",
    instructions: script({ reply: hostile, tool_calls: [{ name: "call", arguments: args }] }),
    tools: [
      {
        ...{ type: "http", name: "call", description: hostile, method: "POST", url: "https://shop.example/call" },
        parameters: schema,
        approval: { when: [{ argument: markup.slice(0, 200), op: "eq", value: markup }] },
      },
    ],
  });
  await perch.agents.create({
    name: "hostile-question",
    model: "perch/script",
    instructions: script({
      reply: longWord,
      tool_calls: [{ name: "ask", arguments: { question: hostile + longWord } }],
    }),
    tools: [{ type: "ask_person", name: "ask", description: hostile, answer: schema }],
  });
}

export const hostileDecide: HostileArea = {
  names: [
    "list of approvals",
    "filters of approvals",
    "approval of a call",
    "approval of a question",
    "rejected approval",
  ],
  plant: async (perch) => {
    await createAgents(perch);
    const { key: apiKey } = await perch.keys.create({ name: markup.slice(0, 60), permissions: ["read", "approve"] });
    const { url } = inject("consoleServer");
    const approver = new Perch({ baseUrl: url, apiKey });
    const app = await createApp(perch, url);
    const user = markup.slice(0, 60);
    const rejected = await askFor(app, "hostile-call", hostile + longWord, user);
    await approver.approvals.reject(rejected, { reason: hostile });
    const call = await askFor(app, "hostile-call", hostile, user);
    const question = await askFor(app, "hostile-question", hostile, user);
    const seen = (path: string) => ({ path, apiKey });
    return {
      "list of approvals": seen("/approvals?status=any"),
      "filters of approvals": seen(`/approvals?${new URLSearchParams({ user: hostile, kind: "tool" })}`),
      "approval of a call": seen(`/approvals/${call}`),
      "approval of a question": seen(`/approvals/${question}`),
      "rejected approval": seen(`/approvals/${rejected}`),
    };
  },
};
