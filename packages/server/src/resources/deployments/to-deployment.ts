import type { Deployment, DeploymentStatus, GuardReport, Guards, Version, VersionSummary } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import { logSettingOf } from "../agents/log-setting.ts";
import type { DeploymentRow } from "./deployment-queries.ts";
import { definitionOf, type VersionRow } from "./version-queries.ts";

const keyId = (id: string | null) => id && toPublicId("key", id);

export const toDeployment = (row: DeploymentRow): Deployment => ({
  id: toPublicId("deployment", row.id),
  agent_id: toPublicId("agent", row.agent_id),
  environment: row.environment,
  version: row.version,
  status: row.status as DeploymentStatus,
  traffic_percent: row.traffic_percent,
  guards: row.guards as Guards | null,
  guard_report: row.guard_report as GuardReport | null,
  rollback_of: row.rollback_of && toPublicId("deployment", row.rollback_of),
  created_by: keyId(row.created_by),
  created_at: row.created_at.toISOString(),
  activated_at: row.activated_at?.toISOString() ?? null,
  ended_at: row.ended_at?.toISOString() ?? null,
  error: row.error,
});

export const toVersionSummary = (row: Omit<VersionRow, "definition" | "organisation_id">): VersionSummary => ({
  version: row.label,
  agent_id: toPublicId("agent", row.agent_id),
  checksum: `sha256:${row.checksum.toString("hex")}`,
  created_by: keyId(row.created_by),
  created_at: row.created_at.toISOString(),
});

export function toVersion(row: VersionRow): Version {
  const definition = definitionOf(row);
  return { ...toVersionSummary(row), definition: { ...definition, logs: logSettingOf(definition) } };
}
