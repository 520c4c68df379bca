import { isTransientStatus, retryAfterMs } from "../platform/outbound-failure.ts";
import { type Arguments, isObject, notAnObjectMessage } from "./call-arguments.ts";
import { type ToolCallContext, type ToolDeps, type ToolResult, TransientToolError } from "./call-tool.ts";
import { buildRequest, InvalidArgumentsError } from "./http-request.ts";
import { readResponseText } from "./read-answer.ts";
import { truncateToBytes } from "./text-for-model.ts";
import type { HttpTarget } from "./tool-set.ts";
import { describeTransportError, findPermanentReason, throwIfCancelled } from "./transport-failure.ts";

const failedResult = (content: string): ToolResult => ({ content, failed: true });
const maxErrorBodyBytes = 4096;

function tryBuildRequest(target: HttpTarget, args: Arguments) {
  try {
    return buildRequest(target, args);
  } catch (error) {
    if (error instanceof InvalidArgumentsError) return error;
    throw error;
  }
}

async function toToolResult(name: string, response: Response): Promise<ToolResult> {
  const { status } = response;
  if (response.ok) return { content: await readResponseText(response), failed: false };
  if (status < 400 || isTransientStatus(status)) await response.body?.cancel();
  if (isTransientStatus(status))
    throw new TransientToolError(`The tool ${name} answered ${status}.`, {
      retryAfterMs: retryAfterMs(response.headers),
    });
  if (status < 400) return failedResult(`The tool ${name} answers with a redirect, which is not followed.`);
  const body = truncateToBytes(await readResponseText(response), maxErrorBodyBytes);
  return failedResult(body ? `The tool ${name} answered ${status}: ${body}` : `The tool ${name} answered ${status}.`);
}

export async function callHttpTool(
  { fetch, version }: ToolDeps,
  { name, target }: { readonly name: string; readonly target: HttpTarget },
  args: unknown,
  { idempotencyKey, requestId, signal }: ToolCallContext,
): Promise<ToolResult> {
  if (!isObject(args)) return failedResult(notAnObjectMessage(name));
  const request = tryBuildRequest(target, args);
  if (request instanceof InvalidArgumentsError) return failedResult(request.message);
  const { url, body } = request;
  try {
    const response = await fetch(url, {
      method: target.method,
      headers: {
        accept: "application/json, text/*;q=0.9",
        "idempotency-key": idempotencyKey,
        "user-agent": `perch/${version}`,
        "x-request-id": requestId,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return await toToolResult(name, response);
  } catch (error) {
    if (error instanceof TransientToolError) throw error;
    throwIfCancelled(signal);
    const permanentReason = findPermanentReason(error);
    if (permanentReason !== undefined) return failedResult(permanentReason);
    throw new TransientToolError(`The tool ${name} ${describeTransportError(error)}.`, { cause: error });
  }
}
