import type { Pages, Told } from "./told.ts";

/** A user who asked to be forgotten, and an agent that limits its callers. */
export async function tellSettings({ perch }: Told): Promise<Pages> {
  await perch.agents.update("returns", { security: { rateLimit: { enabled: true, requests: 600, window: "1m" } } });
  const viewer = await perch.keys.create({ name: "reports", role: "viewer" });
  const erasure = await perch.users.erase("user-who-left");
  await perch.keys.revoke(viewer.id);
  return {
    organisation: "/settings",
    sessions: "/settings/sessions",
    "second-factor": "/settings/second-factor",
    "users-data": "/settings/users-data",
    "erasure-receipt": `/settings/users-data?erasure=${erasure.id}`,
    "audit-log": "/audit",
    "audit-log-refused": "/audit?outcome=refused",
    "agent-security": "/agents/returns/security",
  };
}
