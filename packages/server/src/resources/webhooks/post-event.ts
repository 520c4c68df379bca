import { setTimeout as sleep } from "node:timers/promises";
import { RefusedAddressError } from "../../outbound/address-guard.ts";
import { causesOf, retryAfterMs } from "../../outbound/outbound-errors.ts";
import { redactResponses } from "../../outbound/secrets/redact-responses.ts";
import { noRedaction, type Redactor } from "../../outbound/secrets/redactor.ts";
import { storableText } from "../../platform/storable-text.ts";
import { findUrlProblem } from "./webhook-rules.ts";

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Redacts the secrets among the headers. */
  readonly redactor?: Redactor;
}

/** The outcome of one attempt. */
export interface PostResult {
  readonly ms: number;
  readonly statusCode: number | null;
  /** Why it failed, for the webhook's owner; null when it succeeded. */
  readonly error: string | null;
  readonly response: string | null;
  readonly retryAfterMs?: number | undefined;
  readonly kind: "delivered" | "http_error" | "timeout" | "blocked" | "unreachable";
}

export type PostEvent = (request: PostRequest) => Promise<PostResult>;

interface PostEventDeps {
  /** The guarded client's. */
  readonly fetch: typeof globalThis.fetch;
  readonly allowHttp: boolean;
  readonly timeoutSeconds: number;
  readonly now: () => number;
}

const maxReadBytes = 4096;
const maxStoredBytes = 1024;
/** The status already decides the outcome, so the body gets little time. */
const excerptTimeoutMs = 1000;

/** The beginning of the body, as far as it arrives in time. */
async function readExcerpt(response: Response, redactor: Redactor): Promise<string | null> {
  const reader = response.body?.getReader();
  if (!reader) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const read = async () => {
    while (bytes < maxReadBytes) {
      const { done, value } = await reader.read();
      if (done) return;
      chunks.push(value);
      bytes += value.byteLength;
    }
  };
  await Promise.race([read().catch(() => undefined), sleep(excerptTimeoutMs, undefined, { ref: false })]);
  await reader.cancel().catch(() => undefined);
  const text = await redactor.beginning(Buffer.concat(chunks).toString("utf8"));
  const stored = Buffer.from(text).subarray(0, maxStoredBytes);
  return stored.length === 0 ? null : storableText(stored.toString("utf8"));
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}, a redirect, and redirects are not followed. Set the webhook's url to where it leads.`;
  if (status === 410) return "The receiver answered 410: it wants no more events.";
  if (status === 401 || status === 403)
    return `The receiver answered ${status}. If it checks signatures, see that it has this webhook's secret.`;
  return `The receiver answered ${status}. Only an answer from 200 to 299 counts as delivered.`;
}

const errorMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The connection was refused: nothing listens at this address and port.",
  ENOTFOUND: "The name of the host could not be resolved.",
  EAI_AGAIN: "The name of the host could not be resolved for now.",
  ECONNRESET: "The connection was closed before there was an answer.",
  UND_ERR_SOCKET: "The connection was closed before there was an answer.",
  EHOSTUNREACH: "The host cannot be reached.",
  ENETUNREACH: "The host cannot be reached.",
  CERT_HAS_EXPIRED: "The receiver's certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The receiver's certificate is self-signed and not trusted.",
  SELF_SIGNED_CERT_IN_CHAIN: "The receiver's certificate chain ends in an unknown, self-signed authority.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The receiver's certificate cannot be verified. Does it send the whole chain?",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another name.",
};

function describeFailure(error: unknown, timeoutSeconds: number): Pick<PostResult, "error" | "kind"> {
  for (const cause of causesOf(error)) {
    if (cause instanceof RefusedAddressError) return { error: cause.message, kind: "blocked" };
    if (cause.name === "TimeoutError" || cause.code === "UND_ERR_CONNECT_TIMEOUT")
      return { error: `There was no answer within ${timeoutSeconds} s.`, kind: "timeout" };
    const message = typeof cause.code === "string" ? errorMessages[cause.code] : undefined;
    if (message !== undefined) return { error: message, kind: "unreachable" };
    if (cause.message === "bad port") return { error: "This port is blocked for HTTP.", kind: "blocked" };
  }
  const codes = [...causesOf(error)].flatMap(({ code }) => (typeof code === "string" ? [code] : []));
  return { error: `The request failed${codes[0] ? ` (${codes[0]})` : ""}.`, kind: "unreachable" };
}

/** One attempt over the network. It never throws: a failure is a result. */
export const createPostEvent =
  ({ fetch, allowHttp, timeoutSeconds, now }: PostEventDeps): PostEvent =>
  async ({ url, headers, body, redactor = noRedaction }) => {
    const startedAtMs = now();
    const elapsedMs = () => Math.max(0, Math.round(now() - startedAtMs));
    const noResponse = { statusCode: null, response: null };
    const problem = findUrlProblem(url, allowHttp);
    if (problem !== undefined) return { ...noResponse, ms: 0, error: problem, kind: "blocked" };
    try {
      const response = await redactResponses(fetch, redactor)(url, { method: "POST", headers, body });
      const ms = elapsedMs();
      const error = describeStatus(response.status);
      return {
        ms,
        statusCode: response.status,
        error,
        response: await readExcerpt(response, redactor),
        retryAfterMs: retryAfterMs(response.headers),
        kind: error === null ? "delivered" : "http_error",
      };
    } catch (error) {
      return { ...noResponse, ms: elapsedMs(), ...describeFailure(error, timeoutSeconds) };
    }
  };
