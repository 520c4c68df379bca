import type { OperationKey, Operations, RequestOf, ResponseOf } from "../../../contract/src/index.ts";
import { currentCode } from "../identity/one-time-code.ts";
import { poll } from "./poll.ts";

type Send = <K extends OperationKey>(
  key: K,
  request: RequestOf<Operations[K]>,
  headers?: Readonly<Record<string, string>>,
) => Promise<ResponseOf<Operations[K]>>;

/** How the requests of the story are sent: over HTTP to record them, or through the page at `/docs` to try what it offers. */
export interface Narration {
  /** Sends the example request of its operation. Every operation has exactly one. */
  readonly show: Send;
  /** Sends a request that the story needs and that no example shows. */
  readonly prepare: Send;
  /** The key of an operator of the installation. */
  readonly operatorKey: string;
  /** URL of a webhook that receives events. */
  readonly webhookUrl: string;
  /** An authorization server. */
  readonly issuer: string;
  /** Acts as a user on the link of a connection. Returns the code that the application gets. */
  readonly openLink: (link: string) => Promise<string>;
}

const agent = "support-bot";
const params = { agent_id: agent };
const customer = { user_id: "customer-1042", session_id: "chat-7" };

async function createTheAgent({ show }: Narration): Promise<void> {
  await show("GET /v1/me", {});
  await show("GET /v1/models", {});
  await show("POST /v1/agents", {
    body: {
      name: agent,
      model: "perch/echo",
      instructions: "You are the support agent of a bicycle shop. Answer in two sentences at most.",
      memory: { recall: true },
      limits: { timeout_seconds: 60 },
    },
  });
  await show("GET /v1/agents", {});
  await show("GET /v1/agents/{agent_id}", { params });
}

async function storeCredentials({ show }: Narration): Promise<void> {
  const token = { name: "orders_api_token", value: "example-token-of-the-orders-api", hosts: ["orders.example.com"] };
  const named = { secret_name: token.name };
  await show("POST /v1/secrets", { body: token });
  await show("GET /v1/secrets", {});
  await show("GET /v1/secrets/{secret_name}", { params: named });
  await show("PATCH /v1/secrets/{secret_name}", { params: named, body: { value: "example-token-after-rotation" } });

  const own = { name: "crm_token", value: "example-token-of-the-crm", hosts: ["crm.example.com"] };
  const ownNamed = { ...params, secret_name: own.name };
  await show("POST /v1/agents/{agent_id}/secrets", { params, body: own });
  await show("GET /v1/agents/{agent_id}/secrets", { params });
  await show("GET /v1/agents/{agent_id}/secrets/{secret_name}", { params: ownNamed });
  await show("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", {
    params: ownNamed,
    body: { value: "example-token-after-rotation" },
  });

  const provider = { provider_name: "openai" };
  await show("POST /v1/providers", { body: { name: "openai", type: "openai", api_key: "sk-example-key-of-openai" } });
  await show("GET /v1/providers", {});
  await show("GET /v1/providers/{provider_name}", { params: provider });
  await show("PATCH /v1/providers/{provider_name}", {
    params: provider,
    body: { models: ["gpt-4.1", "gpt-4.1-mini"] },
  });
}

/** The id of the deployment, once it serves requests. */
async function waitUntilActive({ prepare }: Narration, deployment_id: string): Promise<string> {
  await poll("the deployment is active", async () => {
    const request = { params: { ...params, deployment_id } };
    const { data } = await prepare("GET /v1/agents/{agent_id}/deployments/{deployment_id}", request);
    if (data.status === "failed") throw new Error(`The deployment failed: ${data.error}`);
    return data.status === "active";
  });
  return deployment_id;
}

async function deployTheAgent(narration: Narration): Promise<void> {
  const { show, prepare } = narration;
  const deployCanary = async (version: string): Promise<{ agent_id: string; deployment_id: string }> => {
    const body = { environment: "production", version, traffic_percent: 10 };
    const { data } = await prepare("POST /v1/agents/{agent_id}/deployments", { params, body });
    return { ...params, deployment_id: await waitUntilActive(narration, data.id) };
  };
  await show("POST /v1/agents/{agent_id}/check", { params });
  const live = await show("POST /v1/agents/{agent_id}/deployments", {
    params,
    body: { environment: "production", version: "v1" },
  });
  const first = { ...params, deployment_id: await waitUntilActive(narration, live.data.id) };
  await show("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: first });
  await show("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 0.3, limits: { max_steps: 8 } } });
  const second = await deployCanary("v2");
  await show("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", {
    params: second,
    body: { traffic_percent: 25 },
  });
  await show("POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote", { params: second });
  const third = await deployCanary("v3");
  await show("POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort", { params: third });
  const back = await show("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", { params: first });
  await waitUntilActive(narration, back.data.id);
  await show("GET /v1/agents/{agent_id}/deployments", { params, query: { limit: 2 } });
  await show("GET /v1/deployments", { query: { environment: "production", limit: 1 } });
  await show("GET /v1/agents/{agent_id}/versions", { params });
  await show("GET /v1/agents/{agent_id}/versions/{version}", { params: { ...params, version: "v1" } });
  await show("GET /v1/agents/{agent_id}/versions/{version}/diff", {
    params: { ...params, version: "v1" },
    query: { to: "v2" },
  });
}

/** A run that was cancelled before its second step. Cancelling it again changes nothing, so that the answer is always the same. */
async function cancelLongRun({ prepare }: Narration): Promise<string> {
  const { model, instructions } = (await prepare("GET /v1/agents/{agent_id}", { params })).data;
  const search = { tool_calls: [{ name: "search", arguments: { query: "bicycles" } }], delay_ms: 2000 };
  const script = JSON.stringify({ steps: [search, { reply: "We have 212 bicycles." }] });
  await prepare("PATCH /v1/agents/{agent_id}", { params, body: { model: "perch/script", instructions: script } });
  const body = { message: "Compare all the bicycles you have.", context: { version: "draft" } };
  const headers = { prefer: "respond-async" };
  const { data } = await prepare("POST /v1/agents/{agent_id}/invoke", { params, body }, headers);
  const run = { params: { ...params, request_id: data.request_id } };
  await prepare("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", run);
  await poll("the run has ended", async () => {
    const { status } = (await prepare("GET /v1/agents/{agent_id}/invocations/{request_id}", run)).data;
    return status !== "running";
  });
  await prepare("PATCH /v1/agents/{agent_id}", { params, body: { model, instructions } });
  return data.request_id;
}

/** A run of another key that waits for two decisions and an answer, in that order. */
async function startWaitingRun({ prepare }: Narration): Promise<readonly { readonly approval_id: string }[]> {
  const { id: key_id, permissions } = (await prepare("GET /v1/me", {})).data.key;
  await prepare("PATCH /v1/keys/{key_id}", { params: { key_id }, body: { permissions: [...permissions, "approve"] } });
  const { data: shop } = await prepare("POST /v1/keys", { body: { name: "Online shop", role: "developer" } });
  const refund = (order: string, amount: number) => ({ name: "refund", arguments: { order, amount } });
  const question = { name: "ask_person", arguments: { question: "Which warehouse is open today?" } };
  const tool_calls = [refund("1042", 250), refund("1043", 9000), question];
  const script = JSON.stringify({ steps: [{ tool_calls }, { reply: "Your refund is on its way." }] });
  const properties = { order: { type: "string" }, amount: { type: "number", maximum: 10_000 } };
  const tools = [
    {
      type: "http" as const,
      name: "refund",
      description: "Pays an order back.",
      method: "POST" as const,
      url: "https://orders.example.com/refunds",
      parameters: { type: "object" as const, properties, required: ["order", "amount"] },
      // The key that decides made the one that starts the run.
      approval: { invoker_may_decide: true },
    },
    {
      type: "ask_person" as const,
      name: "ask_person",
      description: "When unsure.",
      answer: { type: "string" },
      invoker_may_decide: true,
    },
  ];
  await prepare("POST /v1/agents", {
    body: { name: "refund-bot", model: "perch/script", instructions: script, tools },
  });
  const body = { message: "Please pay my orders back.", context: { version: "draft", user_id: "customer-1043" } };
  const headers = { prefer: "respond-async", authorization: `Bearer ${shop.key}` };
  await prepare("POST /v1/agents/{agent_id}/invoke", { params: { agent_id: "refund-bot" }, body }, headers);
  const listOpen = async () => (await prepare("GET /v1/approvals", { query: { status: "open" } })).data;
  await poll("the run waits for decisions", async () => (await listOpen()).length === 3);
  return (await listOpen()).toSorted((a, b) => a.call - b.call).map(({ id }) => ({ approval_id: id }));
}

async function decide(narration: Narration): Promise<void> {
  const { show, prepare } = narration;
  const [approved, rejected, answered] = await startWaitingRun(narration);
  if (!approved || !rejected || !answered) throw new Error("The run does not wait for three decisions.");
  await show("GET /v1/approvals", { query: { status: "open", limit: 1 } });
  await show("GET /v1/approvals/{approval_id}", { params: approved });
  const edited = { arguments: { order: "1042", amount: 200 } };
  await show("POST /v1/approvals/{approval_id}/approve", { params: approved, body: edited });
  const reason = "Order 1043 was never delivered, so nothing was charged.";
  await show("POST /v1/approvals/{approval_id}/reject", { params: rejected, body: { reason } });
  await show("POST /v1/approvals/{approval_id}/answer", { params: answered, body: { answer: "The one in Ghent." } });
  await prepare("DELETE /v1/agents/{agent_id}", { params: { agent_id: "refund-bot" } });
}

async function connectAMailbox({ show, prepare, issuer, openLink }: Narration): Promise<void> {
  const mailbox = {
    type: "http" as const,
    name: "list_mail",
    description: "Lists the customer's newest mails.",
    method: "GET" as const,
    url: "https://mail.example.com/messages",
    parameters: { type: "object" as const },
    connection: {
      account: "user" as const,
      issuer,
      client_id: "bicycle-shop",
      scopes: ["mail.read", "offline_access"],
      return_urls: ["https://shop.example.com/connected"],
    },
  };
  const named = { agent_id: "mail-bot" };
  await prepare("POST /v1/agents", { body: { name: named.agent_id, model: "perch/echo", tools: [mailbox] } });
  const user_id = "customer-1043";
  const { data } = await show("POST /v1/agents/{agent_id}/connections", {
    params: named,
    body: { user_id, tool: mailbox.name },
  });
  const connection = { ...named, connection_id: data.id };
  const code = await openLink(data.link);
  const confirm = "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm";
  await show(confirm, { params: connection, body: { user_id, code } });
  await show("GET /v1/agents/{agent_id}/connections", { params: named, query: { status: "active", limit: 1 } });
  await show("GET /v1/agents/{agent_id}/connections/{connection_id}", { params: connection });
  await show("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params: connection });
  await prepare("DELETE /v1/agents/{agent_id}", { params: named });
}

async function runTheAgent(narration: Narration): Promise<void> {
  const { show, prepare } = narration;
  const { data } = await show("POST /v1/agents/{agent_id}/invoke", {
    params,
    body: { message: "Where is order 1042?", context: customer },
  });
  const run = { ...params, request_id: data.request_id };
  const recorded = async () =>
    (await prepare("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: run })).data.timeline.length > 0;
  await poll("the run is recorded", recorded);
  await show("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: run });
  await show("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", { params: run });
  const cancelled = { ...params, request_id: await cancelLongRun(narration) };
  await show("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params: cancelled });
  await show("GET /v1/agents/{agent_id}/invocations", { params });
  await show("GET /v1/invocations", { query: { status: "completed", limit: 1 } });
  const entry = { level: "info" as const, message: "Order 1042 found", metadata: { carrier: "DHL" } };
  await show("POST /v1/agents/{agent_id}/logs", { params, body: { entries: [entry] } });
  await show("GET /v1/agents/{agent_id}/logs", { params, query: { contains: "order 1042" } });
  await show("GET /v1/agents/{agent_id}/metrics", { params, query: { metric: "tokens", granularity: "1d" } });
  await show("GET /v1/metrics", { query: { metrics: "throughput,error_rate", granularity: "1d" } });
}

async function rememberThings({ show, prepare }: Narration): Promise<void> {
  const fact = { content: "Prefers delivery to the shop in Utrecht.", metadata: { source: "chat" } };
  const { data } = await show("POST /v1/agents/{agent_id}/memory", {
    params,
    body: { ...fact, user_id: customer.user_id },
  });
  await poll("the memory is embedded", async () => {
    const status = await prepare("GET /v1/agents/{agent_id}/memory/status", { params });
    return status.data.pending_embeddings === 0;
  });
  const memory = { ...params, memory_id: data.id };
  await show("POST /v1/agents/{agent_id}/memory/search", { params, body: { query: "Where should we deliver?" } });
  await show("GET /v1/agents/{agent_id}/memory", { params });
  await show("GET /v1/agents/{agent_id}/memory/status", { params });
  await show("GET /v1/agents/{agent_id}/memory/{memory_id}", { params: memory });
  await show("DELETE /v1/agents/{agent_id}/memory/{memory_id}", { params: memory });
  const cleared = await show("DELETE /v1/agents/{agent_id}/memory", {
    params,
    query: { user_id: customer.user_id },
  });
  const clear = { ...params, clear_id: cleared.data.id };
  await show("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: clear });
}

async function receiveEvents({ show, prepare, webhookUrl }: Narration): Promise<void> {
  const { data: created } = await show("POST /v1/webhooks", {
    body: { url: webhookUrl, events: ["agent.completed"], agent_id: agent },
  });
  const webhook = { webhook_id: created.id };
  await show("GET /v1/webhooks", {});
  await show("GET /v1/webhooks/{webhook_id}", { params: webhook });
  await show("PATCH /v1/webhooks/{webhook_id}", {
    params: webhook,
    body: { events: ["agent.completed", "agent.failed"] },
  });
  await show("POST /v1/webhooks/{webhook_id}/rotate", { params: webhook, body: { overlap_seconds: 3600 } });
  const { data: delivery } = await show("POST /v1/webhooks/{webhook_id}/test", { params: webhook });
  const delivered = { ...webhook, delivery_id: delivery.id };
  await poll("the event was sent", async () => {
    const request = { params: delivered };
    const { data } = await prepare("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", request);
    return data.attempts > 0;
  });
  await show("GET /v1/webhooks/{webhook_id}/deliveries", { params: webhook });
  await show("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: delivered });
  await show("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", { params: delivered });
  await show("POST /v1/webhooks/{webhook_id}/redeliver", {
    params: webhook,
    body: { since: "2026-01-31T12:00:00Z" },
  });
  const events = await show("GET /v1/events", { query: { type: "agent.completed" } });
  await show("GET /v1/events/{event_id}", { params: { event_id: events.data[0]?.id ?? "" } });
  await show("DELETE /v1/webhooks/{webhook_id}", { params: webhook });
}

async function manageKeys({ show, prepare }: Narration): Promise<void> {
  const { data: key } = await show("POST /v1/keys", {
    body: { name: "Web shop", agent_id: agent, permissions: ["read", "write"] },
  });
  const named = { key_id: key.id };
  await show("GET /v1/keys", {});
  await show("GET /v1/keys/{key_id}", { params: named });
  await show("PATCH /v1/keys/{key_id}", { params: named, body: { permissions: ["write"] } });
  await show("POST /v1/keys/{key_id}/begin-mfa", { params: named });
  const rotated = await show("POST /v1/keys/{key_id}/rotate", { params: named, body: { overlap_seconds: 3600 } });
  await show("DELETE /v1/keys/{key_id}", { params: { key_id: rotated.data.id } });
  const { data: leaked } = await prepare("POST /v1/keys", { body: { name: "Old laptop", role: "viewer" } });
  await show("POST /v1/keys/revoke-leaked", { body: { key: leaked.key } });
  await show("GET /v1/audit-log", { query: { limit: 2 } });
}

async function enrolSecondFactor({ show }: Narration): Promise<void> {
  const { secret, recovery_codes } = (await show("POST /v1/mfa", {})).data;
  const [first = "", second = ""] = recovery_codes;
  await show("POST /v1/mfa/confirm", { body: { code: await currentCode(secret) } });
  await show("POST /v1/mfa/step-up", { body: { code: first } });
  await show("POST /v1/mfa/remove", { body: { code: second } });
}

async function signInToTheConsole({ show, prepare }: Narration): Promise<void> {
  await show("GET /v1/console/sign-in-methods", {});
  await show("POST /v1/console/links", {});
  const { data: key } = await prepare("POST /v1/keys", { body: { name: "Ada's browser", role: "developer" } });
  const { data: session } = await show("POST /v1/console/sessions", { body: { api_key: key.key } });
  await show("GET /v1/console/sessions", {});
  await show("DELETE /v1/console/sessions/{session_id}", { params: { session_id: session.id } });
}

async function eraseTheCustomer({ show, prepare }: Narration): Promise<void> {
  const { data } = await show("DELETE /v1/users/{user_id}/data", { params: { user_id: customer.user_id } });
  const erasure = { erasure_id: data.id };
  await poll("the erasure has completed", async () => {
    const found = await prepare("GET /v1/erasures/{erasure_id}", { params: erasure });
    return found.data.status === "completed";
  });
  await show("GET /v1/erasures", {});
  await show("GET /v1/erasures/{erasure_id}", { params: erasure });
}

async function lookAtTheOrganisation({ show }: Narration): Promise<void> {
  await show("GET /v1/organisation", {});
  await show("PATCH /v1/organisation", { body: { manage_grants_approve: false } });
}

async function lookAtTheInstallation({ show, operatorKey }: Narration): Promise<void> {
  await show("GET /v1/installation", {}, { authorization: `Bearer ${operatorKey}` });
}

async function deleteWhatIsLeft({ show }: Narration): Promise<void> {
  await show("POST /v1/agents/{agent_id}/pause", { params });
  await show("POST /v1/agents/{agent_id}/resume", { params });
  await show("DELETE /v1/agents/{agent_id}/secrets/{secret_name}", { params: { ...params, secret_name: "crm_token" } });
  await show("DELETE /v1/secrets/{secret_name}", { params: { secret_name: "orders_api_token" } });
  await show("DELETE /v1/providers/{provider_name}", { params: { provider_name: "openai" } });
  await show("DELETE /v1/agents/{agent_id}", { params });
}

/**
 * The life of a support agent, from an empty organisation: every operation succeeds once, in an order in which its requirements exist. The
 * examples in the OpenAPI document are these requests and their answers.
 */
export async function playStory(narration: Narration): Promise<void> {
  await createTheAgent(narration);
  await storeCredentials(narration);
  await deployTheAgent(narration);
  await runTheAgent(narration);
  await rememberThings(narration);
  await receiveEvents(narration);
  await manageKeys(narration);
  await enrolSecondFactor(narration);
  await signInToTheConsole(narration);
  await eraseTheCustomer(narration);
  await decide(narration);
  await connectAMailbox(narration);
  await lookAtTheOrganisation(narration);
  await lookAtTheInstallation(narration);
  await deleteWhatIsLeft(narration);
}
