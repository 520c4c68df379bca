import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import { type TraceParent, traceHeaders } from "../../platform/trace-parent.ts";
import { RefusedAddressError } from "../address-guard.ts";
import { findConnectFailure } from "../connect-failures.ts";
import { ResponseTooLargeError } from "../guarded-client.ts";
import { limitValues } from "../limit-values.ts";
import { isLoginRefused, isTransientStatus, retryAfterMs } from "../outbound-errors.ts";
import { OutboundBusyError } from "../outbound-share.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import { redactResponses } from "../secrets/redact-responses.ts";
import type { Redactor } from "../secrets/redactor.ts";
import { adviseLogin, isRefusedCall, type ResolveCall } from "../secrets/resolve-call.ts";
import { agentHeaders } from "../signing/agent-headers.ts";
import {
  type ModelMessage,
  type ModelReply,
  maxReplyLength,
  PermanentModelError,
  TransientModelError,
} from "./model.ts";
import { redactReply } from "./redact-reply.ts";

export interface RemoteRequest {
  /** The owner of the agent, whose secrets the call may carry. */
  readonly owner: SecretOwner;
  /** The runtime's headers. Their values may refer to secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly requestId: string;
  readonly agentId: string;
  readonly message: string;
  readonly context: {
    readonly userId: string | null;
    readonly sessionId: string | null;
    readonly environment: string;
  };
  readonly history: readonly ModelMessage[];
  readonly memories: readonly { readonly id: string; readonly content: string; readonly updatedAt: string }[];
  /** Undefined if the run is not traced. */
  readonly trace?: TraceParent | undefined;
  readonly signal: AbortSignal;
  readonly onText: (delta: string) => void;
}

/** Calls an agent that runs elsewhere. Throws as a model does. */
export type CallRemoteAgent = (url: string, request: RemoteRequest) => Promise<ModelReply>;

interface RemoteAgentDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly resolveCall: ResolveCall;
}

const errorBodyTimeoutMs = 2000;
const maxErrorBodyBytes = 16 * 1024;
const Tokens = z.int().min(0).max(1_000_000_000).default(0);
const Answer = z.object({ response: z.string(), tokens_used: Tokens });
const Token = z.object({ text: z.string() });
const Done = z.object({ response: z.string().optional(), tokens_used: Tokens });
const Failure = z.object({ message: z.string() });
const ErrorBody = z.union([
  z.object({ error: Failure }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  Failure.transform(({ message }) => message),
]);

const toRequestBody = ({ requestId, agentId, message, context, history, memories }: RemoteRequest): string =>
  JSON.stringify({
    request_id: requestId,
    agent_id: agentId,
    message,
    context: { user_id: context.userId, session_id: context.sessionId, environment: context.environment },
    history: history.map(({ role, content }) => ({ role, content })),
    memories: memories.map(({ id, content, updatedAt }) => ({ id, content, updated_at: updatedAt })),
  });

function parseJson<T>(schema: z.ZodType<T>, text: string, host: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new PermanentModelError(
      `The agent at ${host} answers something else than {"response": "…"} or the events token, done and error.`,
    );
  }
}

/** Its description in messages for users. */
interface RemoteAgent {
  readonly host: string;
  readonly loginAdvice: string;
}

/** The service's own error message. A body that is too long or too slow is not read to its end. */
async function readErrorMessage({ body }: Response, redactor: Redactor): Promise<string> {
  const reader = body?.getReader();
  const timer = setTimeout(() => void reader?.cancel().catch(() => undefined), errorBodyTimeoutMs);
  const chunks: Uint8Array[] = [];
  try {
    for (let size = 0; reader && size < maxErrorBodyBytes; ) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.byteLength;
    }
    const message = ErrorBody.parse(JSON.parse(Buffer.concat(chunks).toString()));
    return (await redactor.text(message)).slice(0, 500);
  } catch {
    return "";
  } finally {
    clearTimeout(timer);
    await reader?.cancel().catch(() => undefined);
  }
}

async function toResponseError(
  response: Response,
  { host, loginAdvice }: RemoteAgent,
  redactor: Redactor,
): Promise<Error> {
  const { status } = response;
  const reason = await readErrorMessage(response, redactor);
  const message = `The agent at ${host} answers ${status}${reason ? `: ${reason}` : "."}`;
  if (isLoginRefused(status)) return new PermanentModelError(`${message} ${loginAdvice}`);
  // 409: the service is still working on an earlier attempt of this request.
  if (status === 409 || isTransientStatus(status))
    return new TransientModelError(message, { retryAfterMs: retryAfterMs(response.headers) });
  return new PermanentModelError(status < 400 ? `${message} Redirects are not followed.` : message);
}

async function readEventStream(
  response: Response,
  host: string,
  redactor: Redactor,
  onText: (delta: string) => void,
): Promise<ModelReply> {
  let text = "";
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events ?? []) {
    if (event === "token") {
      const piece = parseJson(Token, data, host).text;
      text += piece;
      onText(piece);
      // The rest would be truncated: leaving the loop cancels the stream.
      if (text.length > maxReplyLength) return { text, toolCalls: [], tokens: 0 };
    } else if (event === "error") {
      throw new PermanentModelError((await redactor.text(parseJson(Failure, data, host).message)).slice(0, 1000));
    } else if (event === "done") {
      const { response: whole = text, tokens_used: tokens } = parseJson(Done, data, host);
      return { text: whole, toolCalls: [], tokens };
    }
  }
  throw new TransientModelError(`The agent at ${host} ended its stream without a done event.`);
}

/** The reply in a response, whose text is passed on as it arrives. */
async function readReply(
  response: Response,
  agent: RemoteAgent,
  redactor: Redactor,
  onText: (delta: string) => void,
): Promise<ModelReply> {
  const { host } = agent;
  if (response.status < 200 || response.status >= 300) throw await toResponseError(response, agent, redactor);
  if (response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream"))
    return readEventStream(response, host, redactor, onText);
  const { response: text, tokens_used: tokens } = parseJson(Answer, await response.text(), host);
  onText(text);
  return { text, toolCalls: [], tokens };
}

function toModelError(error: unknown, host: string): Error {
  if (error instanceof PermanentModelError || error instanceof TransientModelError) return error;
  if (error instanceof RefusedAddressError || error instanceof ResponseTooLargeError)
    return new PermanentModelError(error.message);
  if (error instanceof OutboundBusyError)
    return new TransientModelError(`The agent at ${host} was not called: ${error.message}`, error);
  const failure = findConnectFailure(error);
  if (!failure) return new TransientModelError(`The connection to the agent at ${host} failed.`, { cause: error });
  const message = `The agent at ${host} could not be reached: ${failure.reason}.`;
  const advice = failure.adviceAbout("`runtime.url` of the agent");
  return failure.isTransient
    ? new TransientModelError(message, { isUnreachable: true, advice, cause: error })
    : new PermanentModelError(`${message} ${advice}`);
}

/**
 * One POST with the message, the context and the history. Every attempt of one run carries the same Idempotency-Key,
 * so a service that stores it can repeat its answer instead of the work.
 */
export const createCallRemoteAgent =
  ({ fetch, version, resolveCall }: RemoteAgentDeps): CallRemoteAgent =>
  async (url, request) => {
    const host = URL.parse(url)?.host ?? url;
    const { owner, requestId, signal } = request;
    const resolved = await resolveCall(owner, { subject: "The remote agent", url, headers: request.headers }).catch(
      (error: unknown) => {
        throw isRefusedCall(error) ? new PermanentModelError(error.message) : error;
      },
    );
    const { redactor } = resolved;
    const agent = { host, loginAdvice: adviseLogin("`runtime.headers` of the agent", request) };
    const init = {
      method: "POST",
      headers: {
        ...resolved.headers,
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        "idempotency-key": requestId,
        "x-request-id": requestId,
        ...agentHeaders(owner),
        ...traceHeaders(request.trace),
        "user-agent": `perch/${version}`,
      },
      body: toRequestBody(request),
      signal,
    };
    return redactReply(redactor, request.onText, async (onText) => {
      try {
        return await readReply(limitValues(await redactResponses(fetch, redactor)(url, init)), agent, redactor, onText);
      } catch (error) {
        throw toModelError(error, host);
      }
    });
  };
