// Made from the examples of the operations by `pnpm generate`. Do not edit.

import type { Perch } from "../src/index.ts";

export async function createAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.create({
    name: "support-bot",
    model: "perch/echo",
    instructions: "You are the support agent of a bicycle shop. Answer in two sentences at most.",
    memory: { recall: true },
    limits: { timeout_seconds: 60 },
  });
  console.log(result);
}

export async function listAgentsSample(perch: Perch): Promise<void> {
  for await (const item of perch.agents.list()) {
    console.log(item);
  }
}

export async function getAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.get("support-bot");
  console.log(result);
}

export async function updateAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.update("support-bot", {
    temperature: 0.3,
    limits: { max_steps: 8 },
  });
  console.log(result);
}

export async function deleteAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.delete("support-bot");
  console.log(result);
}

export async function pauseAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.pause("support-bot");
  console.log(result);
}

export async function resumeAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.resume("support-bot");
  console.log(result);
}

export async function invokeAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.invoke("support-bot", {
    message: "Where is order 1042?",
    context: { user_id: "customer-1042", session_id: "chat-7" },
  });
  console.log(result);
}

export async function listInvocationsSample(perch: Perch): Promise<void> {
  for await (const item of perch.runs.list("support-bot")) {
    console.log(item);
  }
}

export async function listAllInvocationsSample(perch: Perch): Promise<void> {
  for await (const item of perch.runs.listAll({ status: "completed", limit: 1 })) {
    console.log(item);
  }
}

export async function getInvocationSample(perch: Perch): Promise<void> {
  const result = await perch.runs.get("support-bot", "req_01kg0000000000000000000001");
  console.log(result);
}

export async function cancelInvocationSample(perch: Perch): Promise<void> {
  const result = await perch.runs.cancel("support-bot", "req_01kg0000000000000000000002");
  console.log(result);
}

export async function listStepsSample(perch: Perch): Promise<void> {
  for await (const item of perch.runs.steps("support-bot", "req_01kg0000000000000000000001")) {
    console.log(item);
  }
}

export async function listApprovalsSample(perch: Perch): Promise<void> {
  for await (const item of perch.approvals.list({ status: "open", limit: 1 })) {
    console.log(item);
  }
}

export async function getApprovalSample(perch: Perch): Promise<void> {
  const result = await perch.approvals.get("appr_01kg0000000000000000000002");
  console.log(result);
}

export async function approveApprovalSample(perch: Perch): Promise<void> {
  const result = await perch.approvals.approve("appr_01kg0000000000000000000002", {
    arguments: { order: "1042", amount: 200 },
  });
  console.log(result);
}

export async function rejectApprovalSample(perch: Perch): Promise<void> {
  const result = await perch.approvals.reject("appr_01kg0000000000000000000003", {
    reason: "Order 1043 was never delivered, so nothing was charged.",
  });
  console.log(result);
}

export async function answerApprovalSample(perch: Perch): Promise<void> {
  const result = await perch.approvals.answer(
    "appr_01kg0000000000000000000001",
    { answer: "The one in Ghent." },
  );
  console.log(result);
}

export async function createConnectionSample(perch: Perch): Promise<void> {
  const result = await perch.connections.create("mail-bot", {
    user_id: "customer-1043",
    tool: "list_mail",
  });
  console.log(result);
}

export async function listConnectionsSample(perch: Perch): Promise<void> {
  for await (const item of perch.connections.list("mail-bot", { status: "active", limit: 1 })) {
    console.log(item);
  }
}

export async function getConnectionSample(perch: Perch): Promise<void> {
  const result = await perch.connections.get("mail-bot", "conn_01kg0000000000000000000001");
  console.log(result);
}

export async function confirmConnectionSample(perch: Perch): Promise<void> {
  const result = await perch.connections.confirm("mail-bot", "conn_01kg0000000000000000000001", {
    user_id: "customer-1043",
    code: "pcc_ExampleExampleExampleExampleExampleExampleE",
  });
  console.log(result);
}

export async function revokeConnectionSample(perch: Perch): Promise<void> {
  const result = await perch.connections.revoke("mail-bot", "conn_01kg0000000000000000000001");
  console.log(result);
}

export async function checkAgentSample(perch: Perch): Promise<void> {
  const result = await perch.agents.check("support-bot");
  console.log(result);
}

export async function createDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.create("support-bot", {
    environment: "production",
    version: "v1",
  });
  console.log(result);
}

export async function listDeploymentsSample(perch: Perch): Promise<void> {
  for await (const item of perch.deployments.list("support-bot", { limit: 2 })) {
    console.log(item);
  }
}

export async function listAllDeploymentsSample(perch: Perch): Promise<void> {
  for await (const item of perch.deployments.listAll({
    environment: "production",
    limit: 1,
  })) {
    console.log(item);
  }
}

export async function getDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.get("support-bot", "dep_01kg0000000000000000000001");
  console.log(result);
}

export async function updateDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.update(
    "support-bot",
    "dep_01kg0000000000000000000002",
    { traffic_percent: 25 },
  );
  console.log(result);
}

export async function promoteDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.promote("support-bot", "dep_01kg0000000000000000000002");
  console.log(result);
}

export async function abortDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.abort("support-bot", "dep_01kg0000000000000000000003");
  console.log(result);
}

export async function rollbackDeploymentSample(perch: Perch): Promise<void> {
  const result = await perch.deployments.rollback("support-bot", "dep_01kg0000000000000000000001");
  console.log(result);
}

export async function listVersionsSample(perch: Perch): Promise<void> {
  for await (const item of perch.versions.list("support-bot")) {
    console.log(item);
  }
}

export async function getVersionSample(perch: Perch): Promise<void> {
  const result = await perch.versions.get("support-bot", "v1");
  console.log(result);
}

export async function diffVersionsSample(perch: Perch): Promise<void> {
  const result = await perch.versions.diff("support-bot", "v1", { to: "v2" });
  console.log(result);
}

export async function getLogsSample(perch: Perch): Promise<void> {
  for await (const item of perch.logs.list("support-bot", { contains: "order 1042" })) {
    console.log(item);
  }
}

export async function addLogsSample(perch: Perch): Promise<void> {
  const result = await perch.logs.add("support-bot", {
    entries: [
      { level: "info", message: "Order 1042 found", metadata: { carrier: "DHL" } },
    ],
  });
  console.log(result);
}

export async function getAllMetricsSample(perch: Perch): Promise<void> {
  const result = await perch.metrics.getAll({
    metrics: "throughput,error_rate",
    granularity: "1d",
  });
  console.log(result);
}

export async function getMetricsSample(perch: Perch): Promise<void> {
  const result = await perch.metrics.get("support-bot", {
    metric: "tokens",
    granularity: "1d",
  });
  console.log(result);
}

export async function searchMemorySample(perch: Perch): Promise<void> {
  const result = await perch.memory.search("support-bot", {
    query: "Where should we deliver?",
  });
  console.log(result);
}

export async function addMemorySample(perch: Perch): Promise<void> {
  const result = await perch.memory.add("support-bot", {
    content: "Prefers delivery to the shop in Utrecht.",
    metadata: { source: "chat" },
    user_id: "customer-1042",
  });
  console.log(result);
}

export async function listMemoriesSample(perch: Perch): Promise<void> {
  for await (const item of perch.memory.list("support-bot")) {
    console.log(item);
  }
}

export async function getMemoryStatusSample(perch: Perch): Promise<void> {
  const result = await perch.memory.status("support-bot");
  console.log(result);
}

export async function getMemorySample(perch: Perch): Promise<void> {
  const result = await perch.memory.get("support-bot", "mem_01kg0000000000000000000001");
  console.log(result);
}

export async function deleteMemorySample(perch: Perch): Promise<void> {
  const result = await perch.memory.delete("support-bot", "mem_01kg0000000000000000000001");
  console.log(result);
}

export async function clearMemorySample(perch: Perch): Promise<void> {
  const result = await perch.memory.clear("support-bot", { user_id: "customer-1042" });
  console.log(result);
}

export async function getMemoryClearSample(perch: Perch): Promise<void> {
  const result = await perch.memory.getClear("support-bot", "clr_01kg0000000000000000000001");
  console.log(result);
}

export async function createWebhookSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.create({
    url: "https://hooks.example.com/perch",
    events: ["agent.completed"],
    agent_id: "support-bot",
  });
  console.log(result);
}

export async function listWebhooksSample(perch: Perch): Promise<void> {
  for await (const item of perch.webhooks.list()) {
    console.log(item);
  }
}

export async function getWebhookSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.get("wh_01kg0000000000000000000001");
  console.log(result);
}

export async function updateWebhookSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.update("wh_01kg0000000000000000000001", {
    events: ["agent.completed", "agent.failed"],
  });
  console.log(result);
}

export async function deleteWebhookSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.delete("wh_01kg0000000000000000000001");
  console.log(result);
}

export async function rotateWebhookSecretSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.rotateSecret(
    "wh_01kg0000000000000000000001",
    { overlap_seconds: 3600 },
  );
  console.log(result);
}

export async function testWebhookSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.test("wh_01kg0000000000000000000001");
  console.log(result);
}

export async function listDeliveriesSample(perch: Perch): Promise<void> {
  for await (const item of perch.deliveries.list("wh_01kg0000000000000000000001")) {
    console.log(item);
  }
}

export async function getDeliverySample(perch: Perch): Promise<void> {
  const result = await perch.deliveries.get(
    "wh_01kg0000000000000000000001",
    "dlv_01kg0000000000000000000001",
  );
  console.log(result);
}

export async function redeliverSample(perch: Perch): Promise<void> {
  const result = await perch.deliveries.redeliver(
    "wh_01kg0000000000000000000001",
    "dlv_01kg0000000000000000000001",
  );
  console.log(result);
}

export async function redeliverFailedSample(perch: Perch): Promise<void> {
  const result = await perch.webhooks.redeliverFailed(
    "wh_01kg0000000000000000000001",
    { since: "2026-01-31T12:00:00Z" },
  );
  console.log(result);
}

export async function listEventsSample(perch: Perch): Promise<void> {
  for await (const item of perch.events.list({ type: "agent.completed" })) {
    console.log(item);
  }
}

export async function getEventSample(perch: Perch): Promise<void> {
  const result = await perch.events.get("evt_01kg0000000000000000000002");
  console.log(result);
}

export async function createKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.create({
    name: "Web shop",
    agent_id: "support-bot",
    permissions: ["read", "write"],
  });
  console.log(result);
}

export async function listKeysSample(perch: Perch): Promise<void> {
  for await (const item of perch.keys.list()) {
    console.log(item);
  }
}

export async function getKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.get("key_01kg0000000000000000000002");
  console.log(result);
}

export async function revokeKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.revoke("key_01kg0000000000000000000003");
  console.log(result);
}

export async function updateKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.update(
    "key_01kg0000000000000000000002",
    { permissions: ["write"] },
  );
  console.log(result);
}

export async function rotateKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.rotate(
    "key_01kg0000000000000000000002",
    { overlap_seconds: 3600 },
  );
  console.log(result);
}

export async function beginMfaSample(perch: Perch): Promise<void> {
  const result = await perch.keys.beginMfa("key_01kg0000000000000000000002");
  console.log(result);
}

export async function revokeLeakedKeySample(perch: Perch): Promise<void> {
  const result = await perch.keys.revokeLeaked({
    key: "perch_ExampleExampleExampleExampleExampleExample0003",
  });
  console.log(result);
}

export async function getMeSample(perch: Perch): Promise<void> {
  const result = await perch.me();
  console.log(result);
}

export async function getOrganisationSample(perch: Perch): Promise<void> {
  const result = await perch.organisation.get();
  console.log(result);
}

export async function updateOrganisationSample(perch: Perch): Promise<void> {
  const result = await perch.organisation.update({ manage_grants_approve: false });
  console.log(result);
}

export async function listModelsSample(perch: Perch): Promise<void> {
  for await (const item of perch.models.list()) {
    console.log(item);
  }
}

export async function createProviderSample(perch: Perch): Promise<void> {
  const result = await perch.providers.create({
    name: "openai",
    type: "openai",
    api_key: "sk-example-key-of-openai",
  });
  console.log(result);
}

export async function listProvidersSample(perch: Perch): Promise<void> {
  for await (const item of perch.providers.list()) {
    console.log(item);
  }
}

export async function getProviderSample(perch: Perch): Promise<void> {
  const result = await perch.providers.get("openai");
  console.log(result);
}

export async function updateProviderSample(perch: Perch): Promise<void> {
  const result = await perch.providers.update("openai", {
    models: ["gpt-4.1", "gpt-4.1-mini"],
  });
  console.log(result);
}

export async function deleteProviderSample(perch: Perch): Promise<void> {
  const result = await perch.providers.delete("openai");
  console.log(result);
}

export async function createSecretSample(perch: Perch): Promise<void> {
  const result = await perch.secrets.create({
    name: "orders_api_token",
    value: "example-token-of-the-orders-api",
    hosts: ["orders.example.com"],
  });
  console.log(result);
}

export async function listSecretsSample(perch: Perch): Promise<void> {
  for await (const item of perch.secrets.list()) {
    console.log(item);
  }
}

export async function getSecretSample(perch: Perch): Promise<void> {
  const result = await perch.secrets.get("orders_api_token");
  console.log(result);
}

export async function updateSecretSample(perch: Perch): Promise<void> {
  const result = await perch.secrets.update("orders_api_token", {
    value: "example-token-after-rotation",
  });
  console.log(result);
}

export async function deleteSecretSample(perch: Perch): Promise<void> {
  const result = await perch.secrets.delete("orders_api_token");
  console.log(result);
}

export async function createAgentSecretSample(perch: Perch): Promise<void> {
  const result = await perch.agentSecrets.create("support-bot", {
    name: "crm_token",
    value: "example-token-of-the-crm",
    hosts: ["crm.example.com"],
  });
  console.log(result);
}

export async function listAgentSecretsSample(perch: Perch): Promise<void> {
  for await (const item of perch.agentSecrets.list("support-bot")) {
    console.log(item);
  }
}

export async function getAgentSecretSample(perch: Perch): Promise<void> {
  const result = await perch.agentSecrets.get("support-bot", "crm_token");
  console.log(result);
}

export async function updateAgentSecretSample(perch: Perch): Promise<void> {
  const result = await perch.agentSecrets.update("support-bot", "crm_token", {
    value: "example-token-after-rotation",
  });
  console.log(result);
}

export async function deleteAgentSecretSample(perch: Perch): Promise<void> {
  const result = await perch.agentSecrets.delete("support-bot", "crm_token");
  console.log(result);
}

export async function getAuditLogSample(perch: Perch): Promise<void> {
  for await (const item of perch.auditLog.list({ limit: 2 })) {
    console.log(item);
  }
}

export async function eraseUserSample(perch: Perch): Promise<void> {
  const result = await perch.users.erase("customer-1042");
  console.log(result);
}

export async function listErasuresSample(perch: Perch): Promise<void> {
  for await (const item of perch.erasures.list()) {
    console.log(item);
  }
}

export async function getErasureSample(perch: Perch): Promise<void> {
  const result = await perch.erasures.get("erasure_01kg0000000000000000000001");
  console.log(result);
}

export async function enrolMfaSample(perch: Perch): Promise<void> {
  const result = await perch.mfa.enrol();
  console.log(result);
}

export async function confirmMfaSample(perch: Perch): Promise<void> {
  const result = await perch.mfa.confirm({ code: "123456" });
  console.log(result);
}

export async function stepUpSample(perch: Perch): Promise<void> {
  const result = await perch.mfa.stepUp({ code: "exam-ple0-0001" });
  console.log(result);
}

export async function removeMfaSample(perch: Perch): Promise<void> {
  const result = await perch.mfa.remove({ code: "exam-ple0-0002" });
  console.log(result);
}

export async function listSignInMethodsSample(perch: Perch): Promise<void> {
  const result = await perch.consoleSessions.signInMethods();
  console.log(result);
}

export async function createConsoleSessionSample(perch: Perch): Promise<void> {
  const result = await perch.consoleSessions.create({
    api_key: "perch_ExampleExampleExampleExampleExampleExample0004",
  });
  console.log(result);
}

export async function createConsoleLinkSample(perch: Perch): Promise<void> {
  const result = await perch.consoleSessions.createLink();
  console.log(result);
}

export async function listConsoleSessionsSample(perch: Perch): Promise<void> {
  for await (const item of perch.consoleSessions.list()) {
    console.log(item);
  }
}

export async function endConsoleSessionSample(perch: Perch): Promise<void> {
  const result = await perch.consoleSessions.end("cse_01kg0000000000000000000002");
  console.log(result);
}

export async function getInstallationSample(perch: Perch): Promise<void> {
  const result = await perch.installation.get();
  console.log(result);
}
