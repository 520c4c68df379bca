import type { InstallationPart } from "@perch/sdk";
import type { MarkedStatus } from "../../parts/status-mark.tsx";

export const partNames: Readonly<Record<InstallationPart["name"], string>> = {
  database: "Database",
  engine: "Engine",
  engine_admin: "Engine, admin port",
  workers: "Workers",
  valkey: "Valkey",
};

/** The features that stop working while the part is silent, and the operator's first step. */
export const whenSilent: Readonly<Record<InstallationPart["name"], string>> = {
  database: "Requests are refused with 503. Start PostgreSQL, or repair the network to it.",
  engine: "Other nodes of the engine take the calls. If none answers, no run begins. Start this node again.",
  engine_admin:
    "Runs go on. Workers of a new release cannot register, and releases cannot be shown. Start this node again.",
  workers:
    "Runs are accepted and wait. Start the workers of the active release, or repair the network from the engine to them.",
  valkey: "Each node counts limits by itself, and tokens are not streamed between nodes. Start Valkey again.",
};

/** The mark has a shape for each status, and the word is the API's. */
export const marks: Readonly<Record<InstallationPart["status"], MarkedStatus>> = {
  ok: "active",
  degraded: "waiting",
  silent: "failed",
  unknown: "waiting",
  not_configured: "cancelled",
};

/** One sentence about all parts. */
export function summaryOf(parts: readonly InstallationPart[]): {
  readonly status: InstallationPart["status"];
  readonly text: string;
} {
  const silent = parts.filter(({ status }) => status === "silent");
  const degraded = parts.filter(({ status }) => status === "degraded");
  if (silent.length === 1 && silent[0]) return { status: "silent", text: `${partNames[silent[0].name]} is silent` };
  if (silent.length > 1) return { status: "silent", text: `${silent.length} parts are silent` };
  const [first] = degraded;
  if (first) return { status: "degraded", text: `${partNames[first.name]} needs attention` };
  const unknown = parts.find(({ status }) => status === "unknown");
  if (unknown) return { status: "unknown", text: `${partNames[unknown.name]}: not known` };
  return { status: "ok", text: "All parts answer" };
}

/** The reason why the releases are not shown: their port cannot be reached, or it answers and is busy. */
export const whyNoReleases = (parts: readonly InstallationPart[]): string =>
  parts.some(({ name, status }) => name === "engine_admin" && status === "ok")
    ? "The engine answers, but has not counted yet which runs need which release. With many runs this takes a while; the releases are shown afterwards."
    : "The engine's admin port, which knows the releases, did not answer this node.";
