import { setTimeout as sleep } from "node:timers/promises";
import { type ScriptServer, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { actionOf, kindOfMessage, questionTool } from "./plan.ts";

/** One effect of a tool. */
export interface Effect {
  readonly key: string;
  readonly action: string;
  readonly amount: number;
  readonly atMs: number;
}

export interface PaymentServer extends TestServer {
  readonly effects: readonly Effect[];
  /** Requests with a key that had been seen before, which did nothing. */
  readonly repeats: readonly { readonly key: string; readonly atMs: number }[];
}

const maxAnswerMs = 60;

/** Performs each Idempotency-Key once, immediately, and answers a little later. */
export async function startPaymentServer(): Promise<PaymentServer> {
  const answers = new Map<string, object>();
  const effects: Effect[] = [];
  const repeats: { key: string; atMs: number }[] = [];
  const server = await startToolServer(async ({ headers, body }) => {
    const key = String(headers["idempotency-key"]);
    const { action, amount } = JSON.parse(body) as { action: string; amount: number };
    const atMs = performance.now();
    const before = answers.get(key);
    const answer = before ?? { paid: action, amount, receipt: effects.length + 1 };
    if (before) repeats.push({ key, atMs });
    else {
      answers.set(key, answer);
      effects.push({ key, action, amount, atMs });
    }
    await sleep(Math.random() * maxAnswerMs);
    return { body: answer };
  });
  return { url: server.url, close: server.close, effects, repeats };
}

/** A message of the conversation, as the model gets it. */
export interface Said {
  readonly role: string;
  readonly content: string;
  readonly toolCalls?: readonly { readonly id: string; readonly arguments: unknown }[];
  readonly callId?: string;
  readonly failed?: boolean;
}

/** The model of every run. It plays the plan of the kind that the message names. */
export const startPlayedModel = (): Promise<ScriptServer> =>
  startScriptServer(({ step, messages }) => {
    const message = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const calls = kindOfMessage(message)?.replies[step - 1];
    if (!calls) return { reply: `done: ${message}`, tokens: 1 };
    return {
      tokens: 1,
      tool_calls: calls.map(({ tool, amount }, i) => ({
        name: tool,
        arguments: tool === questionTool ? { question: message } : { action: actionOf(message, step, i + 1), amount },
      })),
    };
  });
