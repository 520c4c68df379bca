import { expect, test } from "vitest";
import { bundleServer } from "../packaging/bundle-server.ts";

test.each([
  ["serve and work", 1],
  ["all", 0],
] as const)("the roles %s, and commands, start from the bundle and answer", async (_, workers) => {
  process.env.TEST_SERVER_MAIN ??= await bundleServer();
  // Imported here, because it reads which file starts the server.
  const { startInstallation } = await import("./installation.ts");
  const { url, createOrganisation, stop } = await startInstallation({ workers });
  try {
    const headers = {
      authorization: `Bearer ${await createOrganisation("Acme")}`,
      "content-type": "application/json",
    };
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await post("/v1/agents", { name: "bot", model: "perch/echo" })).status).toBe(201);
    expect((await post("/v1/agents/bot/invoke", { message: "hello" })).status).toBe(200);
  } finally {
    await stop();
  }
});
