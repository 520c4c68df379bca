import { type RequestParts, sendOperation } from "@perch/testkit/api-story/send.ts";
import type { StoryServer } from "@perch/testkit/api-story/story-server.ts";
import { ErrorBody, type ErrorCode, type OperationKey } from "../../packages/contract/src/index.ts";

/** Errors of a server or a limit that no single request brings about. The texts are the server's own. */
const unprovoked = {
  rate_limited: { message: "The rate limit of this organisation is used up. Try again in 3 s.", retry_after: 3 },
  server_error: {
    message:
      "Something failed on our side. Try again; if it persists, report the correlation id corr_01kg0000000000000000000001.",
  },
  unavailable: {
    message:
      "The service cannot reach its database. Try again shortly; after a change, look first whether it was made.",
    retry_after: 5,
  },
  action_required: {
    message:
      'The run waits for a person: decide about the call of "refund" at /v1/approvals/appr_01kg0000000000000000000002. Then read its result at /v1/agents/support-bot/invocations/req_01kg0000000000000000000001. Repeating the request would start another run, because it has no Idempotency-Key.',
    details: [
      { field: "request_id", error: "req_01kg0000000000000000000001" },
      { field: "approval_id", error: "appr_01kg0000000000000000000002" },
    ],
  },
  still_running: {
    message:
      "The run has not ended yet, and goes on. Read its result at /v1/agents/support-bot/invocations/req_01kg0000000000000000000001. Repeating the request would start another run, because it has no Idempotency-Key.",
    details: [{ field: "request_id", error: "req_01kg0000000000000000000001" }],
  },
} as const;

const failing = JSON.stringify({ steps: [{ fail: "permanent", reply: "The model refused the request." }] });
const params = { agent_id: "support-bot" };

interface Refused {
  readonly key: OperationKey;
  readonly request: RequestParts;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request for each error that one request can bring about. The agent fails all its runs. */
const refused: Readonly<Record<Exclude<ErrorCode, keyof typeof unprovoked>, Refused>> = {
  invalid_request: { key: "POST /v1/agents", request: { body: { name: "Support Bot", model: "perch/echo" } } },
  unauthorized: { key: "GET /v1/agents", request: {}, headers: { authorization: "Bearer perch_unknown" } },
  forbidden: { key: "DELETE /v1/agents/{agent_id}", request: { params } },
  not_found: { key: "GET /v1/agents/{agent_id}", request: { params: { agent_id: "sales-bot" } } },
  conflict: { key: "POST /v1/agents", request: { body: { name: "support-bot", model: "perch/echo" } } },
  payload_too_large: {
    key: "POST /v1/agents/{agent_id}/invoke",
    request: { params, body: { message: "x".repeat(1024 * 1024) } },
  },
  run_failed: {
    key: "POST /v1/agents/{agent_id}/invoke",
    request: { params, body: { message: "Where is order 1042?" } },
  },
  precondition_failed: {
    key: "PATCH /v1/agents/{agent_id}",
    request: { params, body: { temperature: 0.3 } },
    headers: { "if-match": '"another-state"' },
  },
};

/** A typical body for each error code. */
export async function recordErrors(server: StoryServer): Promise<Record<ErrorCode, ErrorBody>> {
  const body = { name: params.agent_id, model: "perch/script", instructions: failing };
  await sendOperation(server, "POST /v1/agents", { body });
  const viewer = await sendOperation(server, "POST /v1/keys", { body: { name: "Dashboard", role: "viewer" } });
  const { data } = JSON.parse(viewer.text) as { data: { key: string } };
  const recorded = Object.entries(refused).map(async ([code, { key, request, headers }]) => {
    const as = code === "forbidden" ? { authorization: `Bearer ${data.key}` } : {};
    const answer = await sendOperation(server, key, request, { ...as, ...headers });
    const error = ErrorBody.parse(JSON.parse(answer.text));
    if (error.error.code !== code) throw new Error(`${key} answers ${answer.text}, not ${code}`);
    return [code, error] as const;
  });
  const written = Object.entries(unprovoked).map(
    ([code, error]) => [code, { success: false, error: { code, ...error } }] as const,
  );
  return Object.fromEntries([...(await Promise.all(recorded)), ...written]) as Record<ErrorCode, ErrorBody>;
}
