import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import { RefusedAddressError, ResponseTooLargeError } from "../platform/guarded-client.ts";
import { mayPass, retryAfterMs } from "../platform/outbound-failure.ts";
import {
  type ModelMessage,
  type ModelReply,
  mostReplyLength,
  PassingModelError,
  PermanentModelError,
} from "./model.ts";

export interface RemoteRequest {
  readonly requestId: string;
  readonly agentId: string;
  readonly message: string;
  readonly context: {
    readonly userId: string | null;
    readonly sessionId: string | null;
    readonly environment: string;
  };
  readonly history: readonly ModelMessage[];
  readonly memories: readonly { readonly id: string; readonly content: string; readonly saidAt: string }[];
  readonly signal: AbortSignal;
  readonly onText: (delta: string) => void;
}

/** Asks an agent that somebody else runs. Throws as a model does. */
export type CallRemoteAgent = (url: string, request: RemoteRequest) => Promise<ModelReply>;

interface RemoteAgentDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
}

const complaintMs = 2000;
const mostComplaint = 16 * 1024;
const Tokens = z.int().min(0).max(1_000_000_000).default(0);
const Answer = z.object({ response: z.string(), tokens_used: Tokens });
const Token = z.object({ text: z.string() });
const Done = z.object({ response: z.string().optional(), tokens_used: Tokens });
const Failure = z.object({ message: z.string() });
const Complaint = z.union([
  z.object({ error: Failure }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  Failure.transform(({ message }) => message),
]);

const bodyOf = ({ requestId, agentId, message, context, history, memories }: RemoteRequest): string =>
  JSON.stringify({
    request_id: requestId,
    agent_id: agentId,
    message,
    context: { user_id: context.userId, session_id: context.sessionId, environment: context.environment },
    history: history.map(({ role, content }) => ({ role, content })),
    memories: memories.map(({ id, content, saidAt }) => ({ id, content, said_at: saidAt })),
  });

function parsed<T>(schema: z.ZodType<T>, text: string, where: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new PermanentModelError(
      `The agent at ${where} answers something else than {"response": "…"} or the events token, done and error.`,
    );
  }
}

/** What the service says went wrong. It is no answer worth waiting for: what is longer or takes longer is left unread. */
async function complaintOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const timer = setTimeout(() => void reader?.cancel().catch(() => undefined), complaintMs);
  const chunks: Uint8Array[] = [];
  try {
    for (let size = 0; reader && size < mostComplaint; ) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.byteLength;
    }
    return Complaint.parse(JSON.parse(Buffer.concat(chunks).toString())).slice(0, 500);
  } catch {
    return "";
  } finally {
    clearTimeout(timer);
    await reader?.cancel().catch(() => undefined);
  }
}

async function refused(response: Response, where: string): Promise<Error> {
  const { status } = response;
  const said = await complaintOf(response);
  const message = `The agent at ${where} answers ${status}${said ? `: ${said}` : "."}`;
  // 409: the service still works on the first try of this very request.
  if (status === 409 || mayPass(status))
    return new PassingModelError(message, { retryAfterMs: retryAfterMs(response.headers) });
  return new PermanentModelError(status < 400 ? `${message} Redirects are not followed.` : message);
}

async function streamed(response: Response, where: string, onText: (delta: string) => void): Promise<ModelReply> {
  let text = "";
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events ?? []) {
    if (event === "token") {
      const piece = parsed(Token, data, where).text;
      text += piece;
      onText(piece);
      // No more would be kept: leaving the loop ends the answer.
      if (text.length > mostReplyLength) return { text, toolCalls: [], tokens: 0 };
    } else if (event === "error") {
      throw new PermanentModelError(parsed(Failure, data, where).message.slice(0, 1000));
    } else if (event === "done") {
      const { response: whole = text, tokens_used: tokens } = parsed(Done, data, where);
      return { text: whole, toolCalls: [], tokens };
    }
  }
  throw new PassingModelError(`The agent at ${where} ended its stream without a done event.`);
}

/**
 * One POST with the message, the context and what was said before. Every try of one run carries the same Idempotency-Key,
 * so a service that remembers it answers again instead of working again.
 */
export const createCallRemoteAgent =
  ({ fetch, version }: RemoteAgentDeps): CallRemoteAgent =>
  async (url, request) => {
    const where = URL.parse(url)?.host ?? url;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream, application/json",
          "idempotency-key": request.requestId,
          "x-request-id": request.requestId,
          "user-agent": `perch/${version}`,
        },
        body: bodyOf(request),
        signal: request.signal,
      });
      if (response.status < 200 || response.status >= 300) throw await refused(response, where);
      if (response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream"))
        return await streamed(response, where, request.onText);
      const { response: text, tokens_used: tokens } = parsed(Answer, await response.text(), where);
      request.onText(text);
      return { text, toolCalls: [], tokens };
    } catch (error) {
      if (error instanceof PermanentModelError || error instanceof PassingModelError) throw error;
      if (error instanceof RefusedAddressError || error instanceof ResponseTooLargeError)
        throw new PermanentModelError(error.message);
      throw new PassingModelError(`The connection to the agent at ${where} failed.`, { cause: error });
    }
  };
