import type { ProviderType } from "@perch/contract";
import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** The key of the test servers, a secret that tests can search for. */
export const providerSecret = modelServerKey;

/** Creates a model provider of the organisation at this address, with a key. */
export const createModelProvider = async (
  { call }: Organisation,
  base_url: string,
  {
    name = "acme",
    type = "openai-compatible",
    models = [] as string[],
  }: { name?: string; type?: ProviderType; models?: string[] } = {},
) => ok(await call("POST /v1/providers", { body: { name, type, base_url, models, api_key: providerSecret } })).data;
