import { type AlertCase, repeat } from "../alert-case.ts";

/** Refusals that organisations get, and records that are dropped. */
export const refusalCases: readonly AlertCase[] = [
  {
    fault: "a key that may only read tries many changes at once",
    fires: { PerchAuditRefusalsDropped: "Tell the organisation, and let it revoke the key." },
    isShort: true,
    cause: async ({ tenant }) => {
      const { id, key } = await tenant.post("keys", { name: "reader", permissions: ["read"] });
      const reader = await tenant.withKey(String(key));
      const tryChanges = () =>
        Promise.all(
          Array.from({ length: 30 }, () => reader.call("POST", "agents", { name: "a", model: "perch/echo" })),
        );
      const end = repeat(500, tryChanges);
      return { repair: () => tenant.call("DELETE", `keys/${id}`), end };
    },
  },
  {
    fault: "an organisation has as many agents as its tier allows and goes on",
    fires: { PerchQuotaRefusals: "Give it more with `perch-server set-tier" },
    maxSeconds: 150,
    cause: async ({ createTenant, run }) => {
      const tenant = await createTenant("Grown", "free");
      let agents = 0;
      const end = repeat(500, () => tenant.call("POST", "agents", { name: `agent-${++agents}`, model: "perch/echo" }));
      return { repair: () => run(["set-tier", "--organisation", tenant.id, "--tier", "pro"]), end };
    },
  },
  {
    fault: "a tool refers to a secret that was never set",
    fires: { PerchSecretRefusals: "set the secret again" },
    cause: async ({ tenant, outside }) => {
      const tool = {
        type: "http",
        name: "tracker",
        description: "Finds issues.",
        method: "GET",
        url: `${outside.url}/issues`,
        parameters: { type: "object" },
        headers: { authorization: "Bearer {{secret.tracker_key}}" },
      };
      const steps = [{ tool_calls: [{ name: "tracker", arguments: {} }] }, { reply: "done" }];
      await tenant.post("agents", {
        name: "tracker",
        model: "perch/script",
        instructions: JSON.stringify({ steps }),
        tools: [tool],
      });
      const end = repeat(500, () => tenant.start("tracker"));
      const secret = { name: "tracker_key", value: "tracker-key-1", hosts: [outside.url] };
      return { repair: () => tenant.post("secrets", secret), end };
    },
  },
  {
    fault: "an organisation calls a tool without pause whose answers take long to search for secrets",
    fires: { PerchProcessorTimeUsed: "Give it a smaller tier, or end its key" },
    cause: async ({ createTenant, run, outside }) => {
      const tenant = await createTenant("Searched", "enterprise");
      await tenant.post("secrets", { name: "searched", value: "ab-searched-key", hosts: [outside.url] });
      const tool = {
        type: "http",
        name: "escapes",
        description: "Answers with escapes.",
        method: "GET",
        url: `${outside.url}/escapes`,
        parameters: { type: "object" },
        headers: { authorization: "Bearer {{secret.searched}}" },
      };
      const steps = [{ tool_calls: Array(8).fill({ name: "escapes", arguments: {} }) }, { reply: "done" }];
      await tenant.post("agents", {
        name: "searched",
        model: "perch/script",
        instructions: JSON.stringify({ steps }),
        tools: [tool],
      });
      const end = repeat(500, () => tenant.start("searched"));
      return { repair: () => run(["set-tier", "--organisation", tenant.id, "--tier", "free"]), end };
    },
  },
  {
    fault: "the identity provider answers with errors while a user tries to sign in",
    fires: { PerchIssuerUnavailable: "Start the issuer, or let the node reach it." },
    cause: async ({ api, outside }) => {
      outside.isIssuerDown = true;
      const end = repeat(500, () => fetch(`${api.url}/console/oidc/start`, { redirect: "manual" }));
      const repair = () => {
        outside.isIssuerDown = false;
      };
      return { repair, end };
    },
  },
  {
    fault: "a free organisation runs agents with long answers in the background",
    fires: { PerchStreamsDropped: "If it should have more, give it another tier" },
    cause: async ({ createTenant, run }) => {
      const tenant = await createTenant("Talkative", "free");
      const step = { reply: "{message}".repeat(8), tokens: 1, tool_calls: [{ name: "perch_echo", arguments: {} }] };
      const steps = [step, step, step, step, { reply: "done" }];
      const instructions = JSON.stringify({ steps });
      await tenant.post("agents", { name: "talkative", model: "perch/script", instructions });
      const end = repeat(1000, () => tenant.start("talkative", { message: "word ".repeat(20_000) }));
      return { repair: () => run(["set-tier", "--organisation", tenant.id, "--tier", "enterprise"]), end };
    },
  },
];
