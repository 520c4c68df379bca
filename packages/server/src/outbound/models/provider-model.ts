import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions, ProviderV4 } from "@ai-sdk/provider";
import { limitValues } from "../limit-values.ts";
import { createIdleTimeout, type IdleTimeout } from "./idle-timeout.ts";
import { type Model, type ModelRequest, PermanentModelError } from "./model.ts";
import { toModelError } from "./provider-error.ts";
import { toFunctionTool, toPrompt } from "./provider-prompt.ts";
import { readReply } from "./provider-reply.ts";

export interface ProviderSettings {
  /** The first half of `provider/model`. */
  readonly name: string;
  readonly type: "openai" | "anthropic" | "google" | "openai-compatible";
  /** Null: the provider's own. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
}

export interface ProviderModelOptions {
  readonly fetch: typeof globalThis.fetch;
  /** A call that receives nothing for this long, not even a ping, is aborted. */
  readonly idleTimeoutMs: number;
}

/** Written here because the SDK would otherwise take addresses, as it does keys, from the server's environment. */
const defaultBaseUrls = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

/** The address of a provider's API; null if none is configured and the type has no default. */
export const baseUrlOf = ({ type, baseUrl }: Pick<ProviderSettings, "type" | "baseUrl">): string | null =>
  baseUrl ?? (type === "openai-compatible" ? null : defaultBaseUrls[type]);

/** Throws on settings that no request could succeed with, before one is sent. */
export function validateSettings({ name, type, baseUrl, apiKey }: ProviderSettings, modelName: string): void {
  const hint = `PATCH /v1/providers/${name}, or the server's configuration.`;
  if (type === "openai-compatible" && !baseUrl)
    throw new PermanentModelError(`Provider ${name} has no base URL. Set it: ${hint}`);
  if (type !== "openai-compatible" && !apiKey)
    throw new PermanentModelError(`Provider ${name} has no API key. Set it: ${hint}`);
  // The error of fetch would quote the whole header.
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new PermanentModelError(
      `The API key of provider ${name} has a space or a character that no key has: ${hint}`,
    );
  // Google's model names are part of the URL: one must not lead elsewhere with the provider's key.
  if (type === "google" && !/^[\w@-][\w.@-]*(\/[\w@-][\w.@-]*)*$/.test(modelName))
    throw new PermanentModelError(`${name} has no model ${modelName}: that is no name of a model.`);
}

export function createProvider(settings: ProviderSettings, fetch: typeof globalThis.fetch): ProviderV4 {
  const { type } = settings;
  const apiKey = settings.apiKey ?? "";
  const baseURL = baseUrlOf(settings) ?? "";
  if (type === "openai-compatible") {
    return createOpenAICompatible({ name: "compatible", baseURL, apiKey, fetch, includeUsage: true });
  }
  const create = { openai: createOpenAI, anthropic: createAnthropic, google: createGoogle }[type];
  return create({ baseURL, apiKey, fetch });
}

/**
 * Resets the idle timeout on every chunk: pings and comments count too, and the SDK drops them. An answer of more values
 * than these fails.
 */
export function createIdleTimeoutFetch(
  fetch: typeof globalThis.fetch,
  subject: string,
  idle: IdleTimeout,
  maxValues?: number,
) {
  return async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    // Followed, a redirect would take the key to another host: only `Authorization` is dropped on the way.
    const response = await fetch(input, { ...init, redirect: "manual" });
    idle.reset();
    if (response.ok && response.headers.get("content-type")?.includes("text/html"))
      throw new PermanentModelError(`${subject} answers with a web page. Is the provider's base URL right?`);
    if (!response.body) return response;
    const resetOnChunk = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        idle.reset();
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return limitValues(
      new Response(response.body.pipeThrough(resetOnChunk), { status, statusText, headers }),
      maxValues,
    );
  };
}

/** Output limits that every model of a provider accepts. A higher one, which some refuse, is not sent: `readReply` counts. */
const acceptedOutputTokens = { openai: 4096, anthropic: 4096, google: 4096, "openai-compatible": 1024 } as const;

/** OpenAI refuses a lower limit. */
const minOutputTokens = 16;

const outputLimit = (type: ProviderSettings["type"], { maxOutputTokens }: ModelRequest): number | undefined =>
  maxOutputTokens <= acceptedOutputTokens[type] ? Math.max(minOutputTokens, maxOutputTokens) : undefined;

function callOptions(type: ProviderSettings["type"], request: ModelRequest, signal: AbortSignal) {
  const options: LanguageModelV4CallOptions = {
    prompt: toPrompt(request.messages),
    abortSignal: signal,
    providerOptions: {
      openai: { store: false },
      // We need whole arguments only. Streamed ones are not checked to be JSON, and not every gateway knows them.
      anthropic: { toolStreaming: false },
    },
  };
  const maxOutputTokens = outputLimit(type, request);
  if (maxOutputTokens !== undefined) options.maxOutputTokens = maxOutputTokens;
  if (request.tools.length > 0) options.tools = request.tools.map(toFunctionTool);
  if (request.temperature !== null) options.temperature = request.temperature;
  // Correlates our logs with the provider's. An Idempotency-Key would make some gateways repeat a failure to every retry.
  if (type === "openai" || type === "openai-compatible")
    options.headers = { "x-client-request-id": `${request.requestId}-${request.step}` };
  return options;
}

/** A model behind a provider's API. One call is one streamed HTTP request, without retries: the caller does those. */
export function createProviderModel(
  settings: ProviderSettings,
  modelName: string,
  { fetch, idleTimeoutMs }: ProviderModelOptions,
): Model {
  const subject = `${settings.name}/${modelName}`;
  const streamReply = async (request: ModelRequest, idle: IdleTimeout) => {
    const idleFetch = createIdleTimeoutFetch(fetch, subject, idle);
    const model: LanguageModelV4 = createProvider(settings, idleFetch).languageModel(modelName);
    const { stream } = await model.doStream(callOptions(settings.type, request, idle.signal));
    const isLimited = outputLimit(settings.type, request) !== undefined;
    return readReply(subject, stream, { ...request, isLimited, signal: idle.signal });
  };
  return async (request) => {
    validateSettings(settings, modelName);
    request.signal.throwIfAborted();
    const idle = createIdleTimeout(subject, idleTimeoutMs, request.signal);
    try {
      return await Promise.race([streamReply(request, idle), idle.ended]);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw toModelError(error, { provider: settings.name, model: modelName, apiKey: settings.apiKey });
    } finally {
      idle.stop();
    }
  };
}
