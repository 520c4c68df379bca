import { APICallError } from "@ai-sdk/provider";
import { z } from "zod";
import { type ConnectFailure, findConnectFailure } from "../connect-failures.ts";
import { causesOf, isTransientStatus, parseSecondsAsMs, retryAfterMs } from "../outbound-errors.ts";
import { OutboundBusyError } from "../outbound-share.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";

/** A provider may answer megabytes; only the beginning is shown. */
const maxMessageCharacters = 4000;

/** The model that failed, for the message, and the key that the message must not contain. */
export interface FailingModel {
  readonly provider: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** The error bodies of the four providers and of compatible servers. */
const Code = z.union([z.string(), z.number()]).nullish().catch(null);
const ErrorBody = z.object({
  message: z.string().nullish().catch(null),
  type: Code,
  code: Code,
  details: z
    .array(z.object({ reason: Code, retryDelay: z.string().nullish().catch(null) }))
    .nullish()
    .catch(null),
});
const ErrorResponse = z.union([
  z.object({ error: ErrorBody }).transform(({ error }) => error),
  z.object({ response: z.object({ error: ErrorBody }) }).transform(({ response }) => response.error),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
  ErrorBody,
]);
type ErrorBody = Partial<z.infer<typeof ErrorBody>>;

interface Failure {
  readonly status: number | undefined;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

function parseErrorBody(text = ""): ErrorBody {
  const message = text.trimStart().startsWith("<") ? null : text;
  try {
    const body: ErrorBody = ErrorResponse.parse(JSON.parse(text));
    return { ...body, message: body.message ?? message };
  } catch {
    return { message };
  }
}

/** An HTTP answer, or an error that came in the stream: the SDK knows which status most of those stand for. */
function toFailure(error: unknown): Failure {
  if (APICallError.isInstance(error)) {
    const body = parseErrorBody(error.responseBody);
    return { status: error.statusCode, body, headers: error.responseHeaders ?? {} };
  }
  const frame = error instanceof Error ? undefined : error;
  const body: ErrorBody = ErrorBody.safeParse(frame).data ?? {};
  const status = z.object({ statusCode: z.number() }).safeParse(frame).data?.statusCode;
  return { status: status ?? (typeof body.code === "number" ? body.code : undefined), body, headers: {} };
}

const codesOf = ({ type, code, details }: ErrorBody) => [type, code, ...(details ?? []).map(({ reason }) => reason)];

const isTransientProviderStatus = (status: number) => status === 409 || isTransientStatus(status);

/** Google sends it in the body, as "17s". */
const requestedWaitMs = ({ body, headers }: Failure): number | undefined =>
  retryAfterMs(new Headers(headers)) ??
  parseSecondsAsMs(body.details?.find(({ retryDelay }) => retryDelay)?.retryDelay?.replace(/s$/, "") ?? "");

/** The shortest piece of a key that is recognised. */
const minPieceCharacters = 8;

/** Replaces every word that contains a piece of the secret: providers quote keys back, shortened or inside a sentence. */
function redactSecret(text: string, secret: string | null): string {
  if (!secret) return text;
  const size = Math.min(minPieceCharacters, secret.length);
  const pieces = new Set(Array.from({ length: secret.length - size + 1 }, (_, at) => secret.slice(at, at + size)));
  const containsPiece = (word: string): boolean => {
    for (let at = 0; at + size <= word.length; at++) if (pieces.has(word.slice(at, at + size))) return true;
    return false;
  };
  return text.replace(/\S+/g, (word) => (containsPiece(word) ? "[hidden]" : word));
}

function toPermanentError({ status = 0, body }: Failure, { provider, model, apiKey }: FailingModel): Error | null {
  const codes = codesOf(body);
  if (codes.includes("insufficient_quota"))
    return new PermanentModelError(`${provider} says that the quota behind its API key is used up. Check its billing.`);
  // Google answers 400, not 401, to a wrong key.
  if (status === 401 || status === 403 || codes.includes("API_KEY_INVALID"))
    return new PermanentModelError(
      `${provider} refuses the API key. Check the key of provider ${provider}: PATCH /v1/providers/${provider}, or the server's configuration.`,
    );
  if (status === 404) return new PermanentModelError(`${provider} has no model ${model}, or the key may not use it.`);
  if (status >= 300 && status < 400)
    return new PermanentModelError(`${provider} answers ${status}, a redirect. Set its base URL to where that leads.`);
  if (status < 400 || isTransientProviderStatus(status)) return null;
  const reason = redactSecret((body.message ?? "").slice(0, maxMessageCharacters), apiKey).slice(0, 500);
  return new PermanentModelError(`${provider}/${model} refuses the request (${status})${reason ? `: ${reason}` : "."}`);
}

const malformedResponseErrors = new Set(["AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError"]);

function toTransientError(error: unknown, failure: Failure, subject: string): TransientModelError {
  const { status = 0 } = failure;
  const options = { retryAfterMs: requestedWaitMs(failure) };
  if (status === 429 || status === 529 || status === 503)
    return new TransientModelError(`${subject} is busy or throttles us (${status}).`, options);
  if (status >= 400) return new TransientModelError(`${subject} failed (${status}).`, options);
  if (!(error instanceof Error)) return new TransientModelError(`${subject} broke off its answer with an error.`);
  if ([...causesOf(error)].some(({ name }) => malformedResponseErrors.has(name)))
    return new TransientModelError(`${subject} sent an answer that is broken or not whole.`);
  const busy = [...causesOf(error)].find((one) => one instanceof OutboundBusyError);
  if (busy) return new TransientModelError(`${subject} was not called: ${busy.message}`);
  const code = [...causesOf(error)].map((one) => one.code).findLast((one) => typeof one === "string");
  // A code names the kind of failure; the messages beside it may contain addresses and headers.
  return new TransientModelError(`The connection to ${subject} failed${code ? ` (${code})` : ""}.`);
}

function toConnectError(
  { reason, adviceAbout, isTransient }: ConnectFailure,
  { provider, model }: FailingModel,
): Error {
  const message = `${provider}/${model} could not be reached: ${reason}.`;
  const advice = adviceAbout(
    `the base URL of provider ${provider} (PATCH /v1/providers/${provider}, or the server's configuration)`,
  );
  return isTransient
    ? new TransientModelError(message, { isUnreachable: true, advice })
    : new PermanentModelError(`${message} ${advice}`);
}

/**
 * Every failure of a provider as one of our two errors. The SDK's errors are never kept as a cause: they hold the
 * request, the response's headers and the URL, and causes are logged.
 */
export function toModelError(error: unknown, source: FailingModel): Error {
  if (error instanceof PermanentModelError || error instanceof TransientModelError) return error;
  const subject = `${source.provider}/${source.model}`;
  // Only one error of the SDK has no status and is still not retryable.
  if (APICallError.isInstance(error) && error.statusCode === undefined && !error.isRetryable)
    return new PermanentModelError(
      `${source.provider} speaks OpenAI's chat completions, not its responses: make it a provider of type openai-compatible.`,
    );
  for (const { name, code, message } of causesOf(error)) {
    if (name === "RefusedAddressError" || name === "ResponseTooLargeError")
      return new PermanentModelError(redactSecret(message.slice(0, maxMessageCharacters), source.apiKey));
    if (name === "AI_UnsupportedFunctionalityError" || name === "AI_InvalidPromptError")
      return new PermanentModelError(
        `${subject} cannot take this request: ${redactSecret(message.slice(0, maxMessageCharacters), source.apiKey)}`,
      );
    if (code === "ERR_INVALID_URL") return new PermanentModelError(`The base URL of ${source.provider} is no URL.`);
  }
  const unconnected = findConnectFailure(error);
  if (unconnected) return toConnectError(unconnected, source);
  const failure = toFailure(error);
  return toPermanentError(failure, source) ?? toTransientError(error, failure, subject);
}
