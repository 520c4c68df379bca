import { mayPass, retryAfterMs } from "../platform/outbound-failure.ts";
import { type Arguments, isObject, noObject } from "./call-arguments.ts";
import { PassingToolError, type ToolCallContext, type ToolDeps, type ToolResult } from "./call-tool.ts";
import { requestFor, UnusableArgumentsError } from "./http-request.ts";
import { readAnswer } from "./read-answer.ts";
import { beginningOf } from "./text-for-model.ts";
import type { HttpTarget } from "./tool-set.ts";
import { lastingReason, lossInWords, throwIfGivenUp } from "./transport-failure.ts";

const failed = (content: string): ToolResult => ({ content, failed: true });
const mostBytesOfRefusal = 4096;

function prepare(target: HttpTarget, args: Arguments) {
  try {
    return requestFor(target, args);
  } catch (error) {
    if (error instanceof UnusableArgumentsError) return error;
    throw error;
  }
}

async function resultFrom(name: string, response: Response): Promise<ToolResult> {
  const { status } = response;
  if (response.ok) return { content: await readAnswer(response), failed: false };
  if (status < 400 || mayPass(status)) await response.body?.cancel();
  if (mayPass(status))
    throw new PassingToolError(`The tool ${name} answered ${status}.`, {
      retryAfterMs: retryAfterMs(response.headers),
    });
  if (status < 400) return failed(`The tool ${name} answers with a redirect, which is not followed.`);
  const said = beginningOf(await readAnswer(response), mostBytesOfRefusal);
  return failed(said ? `The tool ${name} answered ${status}: ${said}` : `The tool ${name} answered ${status}.`);
}

export async function callHttpTool(
  { fetch, version }: ToolDeps,
  { name, target }: { readonly name: string; readonly target: HttpTarget },
  args: unknown,
  { idempotencyKey, requestId, signal }: ToolCallContext,
): Promise<ToolResult> {
  if (!isObject(args)) return failed(noObject(name));
  const request = prepare(target, args);
  if (request instanceof UnusableArgumentsError) return failed(request.message);
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
    return await resultFrom(name, response);
  } catch (error) {
    if (error instanceof PassingToolError) throw error;
    throwIfGivenUp(signal);
    const lasting = lastingReason(error);
    if (lasting !== undefined) return failed(lasting);
    throw new PassingToolError(`The tool ${name} ${lossInWords(error)}.`, { cause: error });
  }
}
