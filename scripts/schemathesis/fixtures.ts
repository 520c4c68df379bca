/** Ids of resources for the requests to find: without them most requests would get a 404. */
export type Fixtures = Readonly<Record<string, string>>;

/** Creates the resources through the API. The names are those of `schemathesis.toml`. */
export async function createFixtures(url: string, key: string): Promise<Fixtures> {
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: Record<string, string> }).data;
  };
  // The examples of the document name the first agent; nothing deletes the second.
  for (const name of ["support-bot", "kept"]) await post("/v1/agents", { name, model: "perch/echo" });
  await post("/v1/providers", { name: "kept", type: "openai", api_key: "unused" });
  const secret = { name: "kept", value: "open sesame", hosts: ["api.example"] };
  for (const path of ["/v1/secrets", "/v1/agents/kept/secrets"]) await post(path, secret);
  const deployment = await post("/v1/agents/kept/deployments", { environment: "production", version: "v1" });
  const run = await post("/v1/agents/kept/invoke", { message: "hello" });
  const spare = await post("/v1/keys", { name: "spare", role: "viewer" });
  return {
    KEPT_DEPLOYMENT: deployment.id ?? "",
    KEPT_REQUEST: run.request_id ?? "",
    KEPT_KEY: spare.id ?? "",
  };
}
