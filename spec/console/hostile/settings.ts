import { type HostileArea, hostile, markup } from "./hostile-area.ts";

const names = ["organisation", "second factor", "users' data", "audit log", "audit log's filters", "agent's security"];

/** Names of keys are in the audit log, and a user's id in the dialog that erases. */
export const hostileSettings: HostileArea = {
  names,
  plant: async (perch) => {
    const key = await perch.keys.create({ name: markup.slice(60, 150), role: "viewer" });
    await perch.keys.revoke(key.id);
    await perch.users.erase(markup.slice(0, 60));
    const query = new URLSearchParams({ operation: markup.slice(0, 90), resource: hostile.slice(0, 200) });
    const paths = [
      "/settings",
      "/settings/second-factor",
      "/settings/users-data",
      "/audit",
      `/audit?${query}`,
      "/agents/hostile/security",
    ];
    return Object.fromEntries(names.map((name, index) => [name, paths[index] ?? ""]));
  },
};
