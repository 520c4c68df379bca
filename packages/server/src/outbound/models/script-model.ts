import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { countTokens } from "./echo-model.ts";
import {
  type Model,
  type ModelReply,
  type ModelRequest,
  maxReplyLength,
  PermanentModelError,
  TransientModelError,
} from "./model.ts";

const Step = z.strictObject({
  reply: z.string().default(""),
  tool_calls: z.array(z.strictObject({ name: z.string(), arguments: z.unknown() })).default([]),
  delay_ms: z.int().min(0).max(600_000).default(0),
  word_delay_ms: z.int().min(0).max(60_000).default(0),
  tokens: z.int().min(0).optional(),
  fail: z.enum(["transient", "permanent"]).optional(),
});
type Step = z.infer<typeof Step>;

const Script = z.strictObject({ steps: z.array(Step).min(1) });

function parseScript(instructions: string): z.infer<typeof Script> {
  try {
    return Script.parse(JSON.parse(instructions));
  } catch (error) {
    throw new PermanentModelError(
      'perch/script plays the agent\'s instructions, which must be JSON such as {"steps": [{"reply": "Hello"}]}.',
      { cause: error },
    );
  }
}

/** A short script can produce a very long reply: it is truncated as any reply is. */
function fillTemplate(reply: string, message: string): string {
  const [first = "", ...others] = reply.split("{message}");
  let text = first;
  for (const part of others) {
    if (text.length > maxReplyLength) break;
    text += message + part;
  }
  return text.slice(0, maxReplyLength);
}

/** Streams word by word if the script has a `word_delay_ms`. */
async function emitText(text: string, wordDelayMs: number, { onText, signal }: ModelRequest): Promise<void> {
  if (wordDelayMs === 0) return onText(text);
  for (const word of text.split(/(?<=\S)(?=\s)/)) {
    await sleep(wordDelayMs, undefined, { signal });
    onText(word);
  }
}

async function runStep(step: Step, request: ModelRequest): Promise<ModelReply> {
  const { messages, signal } = request;
  if (step.delay_ms > 0) await sleep(step.delay_ms, undefined, { signal });
  if (step.fail === "permanent") throw new PermanentModelError(step.reply || "The script says: fail.");
  if (step.fail) throw new TransientModelError(step.reply || "The script says: fail, and retry.");
  const message = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const text = fillTemplate(step.reply, message);
  await emitText(text, step.word_delay_ms, request);
  return {
    text,
    toolCalls: step.tool_calls.map(({ name, arguments: input }, i) => ({
      id: `call-${request.step}-${i + 1}`,
      name,
      arguments: input,
    })),
    tokens: step.tokens ?? countTokens(text),
  };
}

/** A test server that supplies the steps can count the calls. */
async function fetchStep(url: string, request: ModelRequest): Promise<Step> {
  const { requestId, step, messages, signal } = request;
  const body = JSON.stringify({ request_id: requestId, step, messages });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body, signal });
  if (!response.ok) throw new Error(`The script's server answers ${response.status}`);
  return Step.parse(await response.json());
}

/**
 * `perch/script`: plays the steps that the agent's instructions contain, one for each model call; the last one repeats.
 * With a URL (a setting of the operator's) it asks that server for each step instead.
 */
export const createScriptModel =
  (url: string | undefined): Model =>
  async (request) => {
    if (url) return runStep(await fetchStep(url, request), request);
    const { steps } = parseScript(request.instructions);
    const step = steps[Math.min(request.step, steps.length) - 1];
    if (!step) throw new PermanentModelError("The script has no step.");
    return runStep(step, request);
  };
