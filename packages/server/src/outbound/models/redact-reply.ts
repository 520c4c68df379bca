import { redactError } from "../secrets/redact-responses.ts";
import { noRedaction, type Redactor } from "../secrets/redactor.ts";
import {
  type ModelReply,
  type ModelRequest,
  maxReplyLength,
  PermanentModelError,
  type ToolCall,
  TransientModelError,
} from "./model.ts";

async function redactModelError(error: unknown, redactor: Redactor): Promise<unknown> {
  if (error instanceof PermanentModelError) return new PermanentModelError(await redactor.text(error.message));
  if (!(error instanceof TransientModelError)) return error;
  const { retryAfterMs, isUnreachable, advice } = error;
  const cause = await redactError(error.cause, redactor);
  return new TransientModelError(await redactor.text(error.message), { retryAfterMs, isUnreachable, advice, cause });
}

/**
 * Makes a call whose reply does not contain the values: not in its pieces, across which one may be split, its text, its
 * tool calls or its errors. Bodies were searched as bytes before; this searches the decoded and joined text.
 */
export async function redactReply(
  redactor: Redactor,
  onText: ModelRequest["onText"],
  call: (onText: ModelRequest["onText"]) => Promise<ModelReply>,
): Promise<ModelReply> {
  if (redactor === noRedaction) return call(onText);
  const { write, end, close } = redactor.stream();
  // Pieces arrive while those before are searched.
  let passed: Promise<void> = Promise.resolve();
  const pass = (search: () => Promise<string>): Promise<void> => {
    passed = passed.then(async () => {
      const piece = await search();
      if (piece !== "") onText(piece);
    });
    passed.catch(() => undefined);
    return passed;
  };
  try {
    const reply = await call((delta) => void pass(() => write(delta)));
    const isWhole = !reply.isCutOff && reply.text.length <= maxReplyLength;
    await (isWhole ? pass(end) : passed);
    return {
      ...reply,
      text: await redactor[isWhole ? "text" : "beginning"](reply.text),
      toolCalls: (await redactor.json(reply.toolCalls)) as readonly ToolCall[],
    };
  } catch (error) {
    throw await redactModelError(error, redactor);
  } finally {
    close();
  }
}
