import { z } from "zod";
import { AgentDefinition } from "./agent-definition.ts";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, KeyId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const versionLabelPattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;
/** Names the agent's draft in place of a version. No version can have it as its label. */
export const draftLabel = "draft";
export const VersionLabel = z
  .string()
  .regex(versionLabelPattern, "Use 1 to 64 letters, digits, dots, underscores, plus signs and hyphens")
  .refine((label) => label !== draftLabel, "`draft` is reserved: it names the agent's draft. Choose another label")
  .meta({ id: "VersionLabel", example: "v1.4.0" });

export const VersionSummary = z
  .object({
    version: VersionLabel,
    agent_id: AgentId,
    checksum: z.string().describe("SHA-256 of the definition. Versions with the same checksum are identical."),
    created_by: KeyId.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: "VersionSummary" });
export type VersionSummary = z.infer<typeof VersionSummary>;

export const Version = VersionSummary.extend({ definition: AgentDefinition.omit({ security: true }) }).meta({
  id: "Version",
});
export type Version = z.infer<typeof Version>;

export const VersionDiff = z
  .object({
    from: z.string(),
    to: z.string(),
    same: z.boolean(),
    changes: z.array(
      z.object({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() }).meta({
        id: "VersionChange",
        description:
          "`from` or `to` is missing if the field does not exist on that side. A field with more than 1,000 changes within it is one change.",
      }),
    ),
    text: z
      .string()
      .describe("The changes as a unified diff. Where too much differs, one sentence that says so: see `changes`."),
  })
  .meta({ id: "VersionDiff" });
export type VersionDiff = z.infer<typeof VersionDiff>;

const params = z.strictObject({ agent_id: AgentRef, version: z.string() });
const tag = "Deployments";

export const versionOperations = {
  "GET /v1/agents/{agent_id}/versions": {
    id: "listVersions",
    tag,
    summary: "List versions",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({ ...pageQuery, sort: sortQuery(["created_at"]) }),
    status: 200,
    response: list(VersionSummary),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/versions/{version}": {
    id: "getVersion",
    tag,
    summary: "Get version",
    description: "The agent's definition at the time the version was created. It never changes.",
    permission: "read",
    params,
    status: 200,
    response: single(Version),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/versions/{version}/diff": {
    id: "diffVersions",
    tag,
    summary: "Compare versions",
    description:
      "Changes from this version to another version, or to the agent's draft. The two may have 262,144 characters together; larger ones are refused with 409.",
    permission: "read",
    params,
    query: z.strictObject({ to: z.string().default(draftLabel).describe("Label of a version, or `draft`.") }),
    status: 200,
    response: single(VersionDiff),
    errors: ["not_found", "conflict"],
  },
} as const satisfies OperationTable;
export type VersionOperationKey = keyof typeof versionOperations;
