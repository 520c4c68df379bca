import { storableText } from "../../platform/storable-text.ts";
import { traceHeaders } from "../../platform/trace-parent.ts";
import { isLoginRefused, isTransientStatus, retryAfterMs } from "../outbound-errors.ts";
import { redactError, redactResponses } from "../secrets/redact-responses.ts";
import type { Redactor } from "../secrets/redactor.ts";
import { adviseLogin } from "../secrets/resolve-call.ts";
import { agentHeaders } from "../signing/agent-headers.ts";
import { callWithAccount, type Login } from "./call-with-account.ts";
import {
  failedResult,
  type HttpTarget,
  type ToolArguments,
  type ToolCallContext,
  type ToolDeps,
  type ToolResult,
} from "./tool.ts";
import {
  findPermanentReason,
  LoginRejectedError,
  PermanentToolError,
  TransientToolError,
  throwIfCancelled,
  toTransportError,
} from "./tool-errors.ts";
import { formatBytes, redactResult, truncateResult, truncateToBytes } from "./truncate-text.ts";

const maxBodyBytes = 1024 * 1024;
const maxErrorBodyBytes = 4096;

interface NamedTarget {
  readonly name: string;
  readonly target: HttpTarget;
}

interface HttpCall extends NamedTarget {
  readonly isApproved: boolean;
}

export async function callHttpTool(
  deps: ToolDeps,
  { name, target, isApproved }: HttpCall,
  args: ToolArguments,
  context: ToolCallContext,
): Promise<ToolResult> {
  const request = tryBuildRequest(target, args);
  if (request instanceof InvalidArgumentsError) return failedResult(request.message);
  const { url, connection } = target;
  const tool = connection && { type: "http" as const, name, url, connection };
  const { owner: user, signal } = context;
  return callWithAccount(deps, { user, tool, signal }, (login) =>
    sendRequest(deps, { name, target, isApproved }, request, context, login),
  );
}

interface ToolRequest {
  readonly url: URL;
  readonly body?: string;
}

async function sendRequest(
  { fetch, version, resolveCall }: ToolDeps,
  { name, target, isApproved }: HttpCall,
  { url, body }: ToolRequest,
  { owner, idempotencyKey, requestId, trace, signal }: ToolCallContext,
  login: Login,
): Promise<ToolResult> {
  const { headers, query } = target;
  const secrets = await resolveCall(owner, { subject: `The tool ${name}`, url, headers, query, isApproved });
  const redactor = login.addTo(secrets.redactor);
  for (const [parameter, value] of Object.entries(secrets.query)) url.searchParams.set(parameter, value);
  try {
    const response = await redactResponses(fetch, redactor)(url, {
      method: target.method,
      headers: {
        ...secrets.headers,
        ...login.headers,
        accept: "application/json, text/*;q=0.9",
        "idempotency-key": idempotencyKey,
        "user-agent": `perch/${version}`,
        "x-request-id": requestId,
        ...agentHeaders(owner),
        ...traceHeaders(trace),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return await toToolResult({ name, target }, response, { redactor, login });
  } catch (error) {
    if (error instanceof TransientToolError || error instanceof LoginRejectedError) throw error;
    throwIfCancelled(signal);
    const permanentReason = findPermanentReason(error);
    if (permanentReason !== undefined) return failedResult(permanentReason);
    const failure = toTransportError(error, {
      subject: `The tool ${name}`,
      urlSetting: `\`url\` of the tool ${name}`,
      cause: await redactError(error, redactor),
    });
    if (failure instanceof PermanentToolError) return failedResult(failure.message);
    throw failure;
  }
}

/** No request can be built from these arguments. The message is for the model. */
class InvalidArgumentsError extends Error {}

/** As the URL parser writes `{name}` in a path. */
const placeholder = /%7B([\w$.-]+)%7D/gi;
const dotSegment = /^(\.|%2e){1,2}$/i;

/** Encoded, a value stays in its segment. Dots are refused: URL parsers and proxies resolve them, encoded or not. */
function encodePathSegment(name: string, args: ToolArguments): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  // Cleaned before the check: removing characters must not join two dots.
  const text = ["string", "number", "boolean"].includes(typeof value) ? storableText(String(value)) : "";
  if (text === "")
    throw new InvalidArgumentsError(
      `The argument ${name} is part of the tool's address: give a string or a number that is not empty.`,
    );
  if (text.split(/[/\\]/).some((part) => dotSegment.test(part)))
    throw new InvalidArgumentsError(`The argument ${name} is part of the tool's address and may not hold "..".`);
  return encodeURIComponent(text);
}

const toQueryValue = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * The address and the body to send: path first, then query (GET, DELETE) or JSON body. Throws `InvalidArgumentsError`.
 */
function buildRequest({ method, url: template, query = {} }: HttpTarget, args: ToolArguments): ToolRequest {
  const url = new URL(template);
  const inPath = new Set<string>();
  url.pathname = url.pathname.replaceAll(placeholder, (_, name: string) => {
    inPath.add(name);
    return encodePathSegment(name, args);
  });

  const rest = Object.entries(args).filter(([name, value]) => !inPath.has(name) && value !== undefined);
  if (method !== "GET" && method !== "DELETE") return { url, body: JSON.stringify(Object.fromEntries(rest)) };
  // The model must not override parameters that the tenant put into the URL or into `query`.
  const fixed = new Set([...url.searchParams.keys(), ...Object.keys(query)]);
  for (const [name, value] of rest) if (!fixed.has(name)) url.searchParams.append(name, toQueryValue(value));
  return { url };
}

function tryBuildRequest(target: HttpTarget, args: ToolArguments) {
  try {
    return buildRequest(target, args);
  } catch (error) {
    if (error instanceof InvalidArgumentsError) return error;
    throw error;
  }
}

const adviceFor = ({ name, target }: NamedTarget, login: Login): string =>
  login.advise?.(`\`connection\` of the tool ${name}`) ?? adviseLogin(`\`headers\` of the tool ${name}`, target);

async function toToolResult(
  { name, target }: NamedTarget,
  response: Response,
  { redactor, login }: { readonly redactor: Redactor; readonly login: Login },
): Promise<ToolResult> {
  const { status } = response;
  if (response.ok) return { content: await readResponseText(response, redactor), failed: false };
  if (status < 400 || isTransientStatus(status)) await response.body?.cancel();
  if (isTransientStatus(status))
    throw new TransientToolError(`The tool ${name} answered ${status}.`, {
      retryAfterMs: retryAfterMs(response.headers),
    });
  if (status < 400) return failedResult(`The tool ${name} answers with a redirect, which is not followed.`);
  const body = truncateToBytes(await readResponseText(response, redactor), maxErrorBodyBytes);
  const answered = `The tool ${name} answered ${status}`;
  const advice = isLoginRefused(status) ? ` ${adviceFor({ name, target }, login)}` : "";
  const [message, summary] = [`${answered}${body ? `: ${body}` : "."}${advice}`, `${answered}.${advice}`];
  if (status === 401 && target.connection) throw new LoginRejectedError(message, { summary });
  return failedResult(message, summary);
}

const textual =
  /^(text\/.+|[^/]+\/(.+\+)?(json|jsonl|x-ndjson|xml|yaml|x-yaml|javascript|x-javascript|x-www-form-urlencoded))$/;

const contentTypeOf = ({ headers }: Response) => {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  return { type: type.trim(), charset: charset ?? "utf-8" };
};

/** The Content-Length, unless it is that of a compressed body. */
function declaredSize({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  return length !== null && /^\d+$/.test(length) && !headers.has("content-encoding") ? Number(length) : undefined;
}

async function readUpTo(response: Response, maxBytes: number): Promise<{ bytes: Buffer; complete: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the body, so that the rest is never sent.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), complete: size <= maxBytes };
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A body as text that a model may be shown and a database can store. Binary bodies are only described by their size. */
async function readResponseText(response: Response, redactor: Redactor): Promise<string> {
  const { type, charset } = contentTypeOf(response);
  const { bytes, complete } = await readUpTo(response, maxBodyBytes);
  const declared = declaredSize(response);
  if (type !== "" && !textual.test(type) && bytes.length > 0) {
    const size = complete ? bytes.length : declared;
    return `[${size === undefined ? `more than ${formatBytes(maxBodyBytes)}` : `${size} bytes`} of ${truncateResult(type)}]`;
  }
  // Searched again as text, because the charset may have hidden a value from the search among bytes.
  const text = decode(bytes, charset);
  if (complete) return redactResult(text, redactor);
  const fullSize = declared ? formatBytes(declared) : `more than ${formatBytes(maxBodyBytes)}`;
  return redactResult(text, redactor, { isBeginning: true, fullSize });
}
