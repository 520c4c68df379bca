import type { AgentDefinitionPatch, ErrorBody, InvocationResult } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

export const invokeOperation = "POST /v1/agents/{agent_id}/invoke";

interface InvokeOptions {
  readonly agent?: string;
  readonly headers?: Record<string, string>;
}

export interface InvokeResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly data: InvocationResult;
  readonly error: ErrorBody["error"];
}

/** Invokes over plain HTTP, with the test's own headers. */
export async function invokeAgent(
  node: { url: string },
  apiKey: string,
  body: object,
  options: InvokeOptions = {},
): Promise<InvokeResponse> {
  const response = await fetch(`${node.url}/v1/agents/${options.agent ?? "bot"}/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...options.headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { data, error } = JSON.parse(text) as Pick<InvokeResponse, "data" | "error">;
  return { status: response.status, text, headers: response.headers, data, error };
}

/** Creates an agent that plays these steps, or asks the script server if there are none. */
export const createScriptedAgent = async (
  { call }: Organisation,
  steps: readonly object[] = [],
  limits: NonNullable<AgentDefinitionPatch["limits"]> = {},
  name = "bot",
): Promise<void> => {
  const instructions = steps.length > 0 ? JSON.stringify({ steps }) : "";
  ok(await call("POST /v1/agents", { body: { name, model: "perch/script", instructions, limits } }));
};

/** Starts a run without waiting for it, and returns its id. */
export async function invokeInBackground(
  node: { url: string },
  apiKey: string,
  body: object,
  options: InvokeOptions = {},
): Promise<string> {
  const { status, data, text } = await invokeAgent(node, apiKey, body, {
    ...options,
    headers: { ...options.headers, prefer: "respond-async" },
  });
  if (status !== 202) throw new Error(`not accepted: ${text}`);
  return data.request_id;
}

/** Reads the record of a run until `isDone` accepts its status. */
export async function waitForRunRecord(
  { call }: Organisation,
  requestId: string,
  isDone: (status: string) => boolean = (status) => status !== "running",
) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await call("GET /v1/agents/{agent_id}/invocations/{request_id}", {
      params: { agent_id: "bot", request_id: requestId },
    });
    if (answer.status === 200 && isDone(answer.body.data.status)) return answer.body.data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${requestId} was not recorded in time`);
}
