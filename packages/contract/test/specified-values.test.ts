import { verifies } from "@perch/testkit/verifies.ts";
import { expect, test } from "vitest";
import {
  agentSortFields,
  agentStatuses,
  deploymentStatuses,
  errorStatus,
  eventTypes,
  granularities,
  idPrefixes,
  KeyStatus,
  keySortFields,
  logLevels,
  metricNames,
  permissions,
  providerTypes,
  Role,
  roles,
  secretSortFields,
  statistics,
  subscribableEvents,
  tierLimits,
  webhookSortFields,
} from "../src/index.ts";

// Written out, not read from the contract: see specified-operations.test.ts.

test("the error codes are the six of the specification and seven more, each with its status", () => {
  verifies("errors.code.invalid-request", "errors.code.unauthorized", "errors.code.forbidden", "errors.code.not-found");
  verifies("errors.code.rate-limited", "errors.code.server-error", "errors.code.others");
  expect(errorStatus).toEqual({
    invalid_request: 400,
    unauthorized: 401,
    forbidden: 403,
    not_found: 404,
    rate_limited: 429,
    server_error: 500,
    conflict: 409,
    payload_too_large: 413,
    unavailable: 503,
    run_failed: 422,
    still_running: 504,
    precondition_failed: 412,
    action_required: 409,
  });
});

test("the tiers have the requests per minute and the burst of the specification", () => {
  verifies("rate-limit.tier-free", "rate-limit.tier-pro", "rate-limit.tier-enterprise");
  const rates = Object.entries(tierLimits).map(([tier, { requestsPerMinute, burst }]) => [
    tier,
    requestsPerMinute,
    burst,
  ]);
  expect(rates).toEqual([
    ["free", 60, 100],
    ["pro", 1000, 2000],
    ["enterprise", 10_000, 20_000],
  ]);
});

test("the permissions and the roles are those of the specification", () => {
  verifies("permissions.names", "permissions.roles");
  // `approve` is our own, and in no role.
  expect(permissions).toEqual(["read", "write", "delete", "manage", "approve", "operate"]);
  expect(roles).toEqual({
    admin: ["read", "write", "delete", "manage"],
    developer: ["read", "write"],
    viewer: ["read"],
  });
  expect(Role.options).toEqual(Object.keys(roles));
});

test("the names that requests and responses use are those that were specified or decided", () => {
  verifies("agent.status-running", "agent.status-others", "deployment.statuses", "logs.levels", "metrics.names");
  verifies("metrics.granularities", "metrics.statistic", "events.name.agent-completed", "events.name.agent-failed");
  verifies("events.other-names", "keys.record-fields", "models.providers", "sort.allowed-fields");
  verifies("lists.webhooks-parameters", "lists.keys-parameters");
  expect(agentStatuses).toEqual(["running", "paused"]);
  expect(deploymentStatuses).toEqual(["pending", "active", "failed", "superseded", "rolled_back"]);
  expect(logLevels).toEqual(["debug", "info", "warn", "error"]);
  expect(metricNames.slice(0, 3)).toEqual(["response_time", "throughput", "error_rate"]);
  expect(granularities).toEqual(["1m", "5m", "1h", "1d"]);
  expect(statistics).toEqual(["avg", "p50", "p95", "p99"]);
  const ofDeployments = ["deployment.activated", "deployment.failed", "deployment.rolled_back"];
  expect(subscribableEvents).toEqual([
    "agent.completed",
    "agent.failed",
    ...ofDeployments,
    "agent.action_required",
    "connection.needs_reauth",
  ]);
  expect(eventTypes).toEqual([...subscribableEvents, "webhook.test"]);
  expect(KeyStatus.options).toEqual(["active", "expired", "revoked"]);
  expect(providerTypes).toEqual(["openai", "anthropic", "google", "openai-compatible"]);
  expect(agentSortFields).toEqual(["created_at", "updated_at", "name"]);
  expect(keySortFields).toEqual(["created_at", "name"]);
  expect(secretSortFields).toEqual(["created_at", "name"]);
  expect(webhookSortFields).toEqual(["created_at"]);
});

test("ids have the prefixes that were decided", () => {
  verifies("agent.id-form", "keys.record-fields", "invocation.request-id-form", "deployment.record-fields");
  verifies("events.payload", "memory.result-fields", "webhooks.record-fields", "events.delivery-log");
  verifies("responses.clear-memory");
  expect(idPrefixes).toEqual({
    organisation: "org",
    agent: "agent",
    key: "key",
    request: "req",
    correlation: "corr",
    deployment: "dep",
    event: "evt",
    memory: "mem",
    clear: "clr",
    webhook: "wh",
    delivery: "dlv",
    audit: "aud",
    erasure: "erasure",
    consoleSession: "cse",
    approval: "appr",
    connection: "conn",
  });
});
