import type { Secret } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** A value that can be searched for. */
export const secretValue = "ghp_Qw7-value/that+nobody=sees";

interface NewSecret {
  readonly name?: string;
  readonly value?: string;
  readonly hosts?: string[];
  /** The only agent that can use it. The default is all. */
  readonly agent?: string;
  readonly approval?: Secret["approval"];
}

export async function createSecret(
  { call }: Pick<Organisation, "call">,
  { name = "github_token", value = secretValue, hosts = ["api.github.com"], agent, approval = null }: NewSecret = {},
): Promise<Secret> {
  const body = { name, value, hosts, approval };
  if (agent === undefined) return ok(await call("POST /v1/secrets", { body })).data;
  return ok(await call("POST /v1/agents/{agent_id}/secrets", { params: { agent_id: agent }, body })).data;
}
