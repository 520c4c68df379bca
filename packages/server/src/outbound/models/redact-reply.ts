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

function redactModelError(error: unknown, redactor: Redactor): unknown {
  if (error instanceof PermanentModelError) return new PermanentModelError(redactor.text(error.message));
  if (!(error instanceof TransientModelError)) return error;
  const { retryAfterMs, isUnreachable, advice } = error;
  const cause = redactError(error.cause, redactor);
  return new TransientModelError(redactor.text(error.message), { retryAfterMs, isUnreachable, advice, cause });
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
  const { write, end } = redactor.stream();
  const pass = (piece: string): void => {
    if (piece !== "") onText(piece);
  };
  try {
    const reply = await call((delta) => pass(write(delta)));
    const isWhole = !reply.isCutOff && reply.text.length <= maxReplyLength;
    if (isWhole) pass(end());
    return {
      ...reply,
      text: redactor[isWhole ? "text" : "beginning"](reply.text),
      toolCalls: redactor.json(reply.toolCalls) as readonly ToolCall[],
    };
  } catch (error) {
    throw redactModelError(error, redactor);
  }
}
