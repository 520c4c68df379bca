import type { AuditEntry } from "@perch/sdk";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { textLinkClass } from "../../../parts/text-link.ts";

type Target = Pick<LinkProps, "to" | "params" | "search">;

const pages: Readonly<Record<string, (resource: string, agent: string) => Target>> = {
  agent: (resource) => ({ to: "/agents/$agent", params: { agent: resource } }),
  deployment: (deployment, agent) => ({ to: "/agents/$agent/deployments/$deployment", params: { agent, deployment } }),
  version: (_, agent) => ({ to: "/agents/$agent/versions", params: { agent } }),
  approval: (approval) => ({ to: "/approvals/$approval", params: { approval } }),
  webhook: (webhook) => ({ to: "/webhooks/$webhook", params: { webhook } }),
  key: (key) => ({ to: "/keys/$key", params: { key } }),
  memory: (memory, agent) => ({ to: "/memory/$agent/$memory", params: { agent, memory } }),
  connection: (connection, agent) => ({ to: "/connections/$agent/$connection", params: { agent, connection } }),
  secret: () => ({ to: "/secrets" }),
  provider: () => ({ to: "/models" }),
  console_session: () => ({ to: "/settings/sessions" }),
  erasure: (erasure) => ({ to: "/settings/users-data", search: { erasure } }),
  organisation: () => ({ to: "/settings" }),
};

/** The page about an entry's resource, where the console has one. What was deleted has none. */
export function targetOf({ operation, resource_type, resource, agent_id, outcome }: AuditEntry): Target | undefined {
  const needsAgent = /^(deployment|version|memory|connection)$/.test(resource_type);
  const isGone = outcome === "changed" && /^(delete|redeliver)/.test(operation);
  if (resource === null || isGone || (needsAgent && agent_id === null)) return undefined;
  // A delivery is named without its webhook.
  if (resource_type === "webhook" && !resource.startsWith("wh_")) return undefined;
  return Object.hasOwn(pages, resource_type) ? pages[resource_type]?.(resource, agent_id ?? "") : undefined;
}

export const EntryLink = ({ entry, children }: { readonly entry: AuditEntry; readonly children: ReactNode }) => {
  const target = targetOf(entry);
  return target ? (
    <Link {...(target as LinkProps)} className={textLinkClass}>
      {children}
    </Link>
  ) : (
    children
  );
};
