import { type HostileArea, hostile, markup } from "./hostile-area.ts";

/** Names of keys and ids of users are free text; names of secrets, hosts and providers are not, but addresses and models nearly are. */
export const hostileAccess: HostileArea = {
  names: [
    "list of keys",
    "key",
    "filters of keys",
    "secrets",
    "secrets of an agent that does not exist",
    "models and providers",
    "connections of an agent that does not exist",
    "connection that does not exist",
  ],
  plant: async (perch) => {
    const key = await perch.keys.create({ name: hostile.slice(-100), role: "viewer" });
    await perch.keys.create({ name: "W".repeat(100), role: "viewer" });
    await perch.secrets.create({ name: "w".repeat(63), value: "12345678", hosts: [`${"w".repeat(200)}.example`] });
    await perch.providers.create({
      name: "w".repeat(63),
      type: "openai-compatible",
      base_url: `https://models.example/${encodeURIComponent(markup)}`,
      models: ["<script>window.hacked=1</script>", "W".repeat(200), "safe\u202Etxt.exe"],
    });
    return {
      "list of keys": "/keys",
      key: `/keys/${key.id}`,
      "filters of keys": `/keys?${new URLSearchParams({ agent: hostile, status: markup })}`,
      secrets: "/secrets",
      "secrets of an agent that does not exist": `/secrets?${new URLSearchParams({ agent: hostile })}`,
      "models and providers": "/models",
      "connections of an agent that does not exist": `/connections?${new URLSearchParams({ agent: hostile, user: markup })}`,
      "connection that does not exist": `/connections/hostile/${encodeURIComponent(markup.slice(0, 60))}`,
    };
  },
};
