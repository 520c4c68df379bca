import { APICallError } from "@ai-sdk/provider";
import { z } from "zod";
import { causesOf, mayPass, retryAfterMs, secondsAsMs } from "../platform/outbound-failure.ts";
import { hideSecret } from "./hide-secret.ts";
import { PassingModelError, PermanentModelError } from "./model.ts";

/** A provider may answer megabytes; what is shown is in the beginning. */
const mostSearched = 4000;

/** Who failed: for the message, and for the key that must not be in it. */
export interface FailingModel {
  readonly provider: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** What the four providers and their imitators put into an error, in the places where they put it. */
const Code = z.union([z.string(), z.number()]).nullish().catch(null);
const Said = z.object({
  message: z.string().nullish().catch(null),
  type: Code,
  code: Code,
  details: z
    .array(z.object({ reason: Code, retryDelay: z.string().nullish().catch(null) }))
    .nullish()
    .catch(null),
});
const Body = z.union([
  z.object({ error: Said }).transform(({ error }) => error),
  z.object({ response: z.object({ error: Said }) }).transform(({ response }) => response.error),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
  Said,
]);
type Said = Partial<z.infer<typeof Said>>;

interface Failure {
  readonly status: number | undefined;
  readonly said: Said;
  readonly headers: Readonly<Record<string, string>>;
}

function bodyOf(text = ""): Said {
  const message = text.trimStart().startsWith("<") ? null : text;
  try {
    const said: Said = Body.parse(JSON.parse(text));
    return { ...said, message: said.message ?? message };
  } catch {
    return { message };
  }
}

/** An HTTP answer, or an error that came in the stream: the SDK knows which status most of those stand for. */
function failureOf(error: unknown): Failure {
  if (APICallError.isInstance(error)) {
    const said = bodyOf(error.responseBody);
    return { status: error.statusCode, said, headers: error.responseHeaders ?? {} };
  }
  const frame = error instanceof Error ? undefined : error;
  const said: Said = Said.safeParse(frame).data ?? {};
  const status = z.object({ statusCode: z.number() }).safeParse(frame).data?.statusCode;
  return { status: status ?? (typeof said.code === "number" ? said.code : undefined), said, headers: {} };
}

const codesOf = ({ type, code, details }: Said) => [type, code, ...(details ?? []).map(({ reason }) => reason)];

const passes = (status: number) => status === 409 || mayPass(status);

/** Google says it in the body, as "17s". */
const askedWaitMs = ({ said, headers }: Failure): number | undefined =>
  retryAfterMs(new Headers(headers)) ??
  secondsAsMs(said.details?.find(({ retryDelay }) => retryDelay)?.retryDelay?.replace(/s$/, "") ?? "");

function refusedByProvider({ status = 0, said }: Failure, { provider, model, apiKey }: FailingModel): Error | null {
  const codes = codesOf(said);
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
  if (status < 400 || passes(status)) return null;
  const reason = hideSecret((said.message ?? "").slice(0, mostSearched), apiKey).slice(0, 500);
  return new PermanentModelError(`${provider}/${model} refuses the request (${status})${reason ? `: ${reason}` : "."}`);
}

const brokenAnswers = new Set(["AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError"]);

function passing(error: unknown, failure: Failure, subject: string): PassingModelError {
  const { status = 0 } = failure;
  const options = { retryAfterMs: askedWaitMs(failure) };
  if (status === 429 || status === 529 || status === 503)
    return new PassingModelError(`${subject} is busy or throttles us (${status}).`, options);
  if (status >= 400) return new PassingModelError(`${subject} failed (${status}).`, options);
  if (!(error instanceof Error)) return new PassingModelError(`${subject} broke off its answer with an error.`);
  if ([...causesOf(error)].some(({ name }) => brokenAnswers.has(name)))
    return new PassingModelError(`${subject} sent an answer that is broken or not whole.`);
  const code = [...causesOf(error)].map((one) => one.code).findLast((one) => typeof one === "string");
  // A code names the kind of failure; the messages beside it may hold addresses and headers.
  return new PassingModelError(`The connection to ${subject} failed${code ? ` (${code})` : ""}.`);
}

/**
 * Every failure of a provider as one of our two errors. The SDK's errors are never kept as a cause: they hold the
 * request, the response's headers and the URL, and causes are logged.
 */
export function toModelError(error: unknown, who: FailingModel): Error {
  if (error instanceof PermanentModelError || error instanceof PassingModelError) return error;
  const subject = `${who.provider}/${who.model}`;
  // Only one error of the SDK has no status and yet is not to be tried again.
  if (APICallError.isInstance(error) && error.statusCode === undefined && !error.isRetryable)
    return new PermanentModelError(
      `${who.provider} speaks OpenAI's chat completions, not its responses: make it a provider of type openai-compatible.`,
    );
  for (const { name, code, message } of causesOf(error)) {
    if (name === "RefusedAddressError" || name === "ResponseTooLargeError")
      return new PermanentModelError(hideSecret(message.slice(0, mostSearched), who.apiKey));
    if (name === "AI_UnsupportedFunctionalityError" || name === "AI_InvalidPromptError")
      return new PermanentModelError(
        `${subject} cannot take this request: ${hideSecret(message.slice(0, mostSearched), who.apiKey)}`,
      );
    if (code === "ERR_INVALID_URL") return new PermanentModelError(`The base URL of ${who.provider} is no URL.`);
  }
  const failure = failureOf(error);
  return refusedByProvider(failure, who) ?? passing(error, failure, subject);
}
