import type { AgentDefinitionPatch, ErrorBody, InvocationResult } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

export const invoke = "POST /v1/agents/{agent_id}/invoke";

interface Given {
  readonly agent?: string;
  readonly headers?: Record<string, string>;
}

export interface Invoked {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly data: InvocationResult;
  readonly error: ErrorBody["error"];
}

/** Invokes as a plain client would, with headers of the test's own. */
export async function invokeAt(
  node: { url: string },
  apiKey: string,
  body: object,
  given: Given = {},
): Promise<Invoked> {
  const response = await fetch(`${node.url}/v1/agents/${given.agent ?? "bot"}/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...given.headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { data, error } = JSON.parse(text) as Pick<Invoked, "data" | "error">;
  return { status: response.status, text, headers: response.headers, data, error };
}

/** An agent that plays these steps, or asks the script's server where there are none. */
export const scripted = async (
  { call }: Organisation,
  steps: readonly object[] = [],
  limits: NonNullable<AgentDefinitionPatch["limits"]> = {},
  name = "bot",
): Promise<void> => {
  const instructions = steps.length > 0 ? JSON.stringify({ steps }) : "";
  ok(await call("POST /v1/agents", { body: { name, model: "perch/script", instructions, limits } }));
};

/** Starts a run without waiting for it, and returns its id. */
export async function inBackground(
  node: { url: string },
  apiKey: string,
  body: object,
  given: Given = {},
): Promise<string> {
  const { status, data, text } = await invokeAt(node, apiKey, body, {
    ...given,
    headers: { ...given.headers, prefer: "respond-async" },
  });
  if (status !== 202) throw new Error(`not accepted: ${text}`);
  return data.request_id;
}

/** The record of a run, read until `done` says so. */
export async function recordOf(
  { call }: Organisation,
  requestId: string,
  done: (status: string) => boolean = (status) => status !== "running",
) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await call("GET /v1/agents/{agent_id}/invocations/{request_id}", {
      params: { agent_id: "bot", request_id: requestId },
    });
    if (answer.status === 200 && done(answer.body.data.status)) return answer.body.data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${requestId} is not there yet`);
}
