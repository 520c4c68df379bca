import { z } from "zod";

/** Prefix of every public id: `agent_01h455vb4pex5vsknk084sn02q`. The rest is a UUIDv7 in base32 (TypeID). */
export const idPrefixes = {
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
} as const;
export type IdKind = keyof typeof idPrefixes;

const suffix = "[0-7][0-9a-hjkmnp-tv-z]{25}";

const id = (kind: IdKind, name: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${idPrefixes[kind]}_${suffix}$`),
      `Expected an id such as ${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q`,
    )
    .meta({ id: name, example: `${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q` });

export const OrganisationId = id("organisation", "OrganisationId");
export const AgentId = id("agent", "AgentId");
export const RequestId = id("request", "RequestId");
export const DeploymentId = id("deployment", "DeploymentId");
export const MemoryId = id("memory", "MemoryId");
export const ClearId = id("clear", "ClearId");
export const KeyId = id("key", "KeyId");
export const EventId = id("event", "EventId");
export const WebhookId = id("webhook", "WebhookId");
export const DeliveryId = id("delivery", "DeliveryId");
export const AuditId = id("audit", "AuditId");
export const ErasureId = id("erasure", "ErasureId");
export const ConsoleSessionId = id("consoleSession", "ConsoleSessionId");
export const ApprovalId = id("approval", "ApprovalId");
export const ConnectionId = id("connection", "ConnectionId");

export const agentNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const AgentName = z
  .string()
  .regex(agentNamePattern, "Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit")
  .meta({ id: "AgentName", example: "support-bot" });

/** In a path, an agent is named by its id or by its name. Neither contains the other's alphabet: names have no underscore. */
export const AgentRef = z.string().describe("The agent's id or its name.").meta({ example: "support-bot" });
