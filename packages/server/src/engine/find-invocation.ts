import { reasonOfFailedCall } from "../platform/reason-of-failed-call.ts";

/** The engine's state of an invocation. It stores the output of an ended one for an hour. */
export type FoundInvocation =
  | "unknown"
  | "under_way"
  | { readonly output: string }
  /** It ended without an output, because an operator killed or cancelled it in the engine. */
  | { readonly failure: string };

/**
 * Asks for an invocation by its handler, as it stands in the engine's paths, and its idempotency key. The leader of its partition
 * answers, so what was accepted is found. The key must be one that stands in a path as it is: the engine does not decode it. Throws if
 * no node has an answer.
 */
export type FindInvocation = (target: string, idempotencyKey: string) => Promise<FoundInvocation>;

const limitMs = 5000;
/** The engine's own status code for an invocation that has not ended. */
const notReadyStatus = 470;
/** The status of an invocation that was killed or cancelled in the engine. */
const endedByHandStatus = 409;
const notFoundMessage = "invocation not found";

export function createFindInvocation(ingressUrls: readonly string[]): FindInvocation {
  const ask = async (url: string, path: string): Promise<FoundInvocation> => {
    const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(limitMs) });
    const text = await response.text();
    if (response.ok) return { output: text };
    if (response.status === notReadyStatus) return "under_way";
    // A service that is not registered is not found either, which proves nothing about its invocations.
    if (response.status === 404 && text.includes(notFoundMessage)) return "unknown";
    if (response.status === endedByHandStatus) return { failure: text };
    throw new Error(`The engine answers ${response.status}: ${text.slice(0, 300)}`);
  };
  return async (target, idempotencyKey) => {
    const path = `/restate/invocation/${target}/${idempotencyKey}/output`;
    let failure: unknown;
    for (const url of ingressUrls) {
      try {
        return await ask(url, path);
      } catch (error) {
        failure = new Error(`The engine at ${url} cannot say what it knows: ${reasonOfFailedCall(error)}`, {
          cause: error,
        });
      }
    }
    throw failure;
  };
}
