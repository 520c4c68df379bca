import type { AgentProblem } from "@perch/contract";
import { noRegistrations } from "../../outbound/oauth/find-client.ts";
import type { OAuthClient, OAuthTool } from "../../outbound/oauth/oauth-client.ts";
import { noPublicUrl } from "../../outbound/oauth/redirect-address.ts";
import { OutsideError } from "../../outbound/outbound-errors.ts";
import type { FindSecrets } from "../../outbound/secrets/find-secrets.ts";
import {
  findRefusal,
  isRefusedCall,
  type RefusedSecretError,
  secretNamesOf,
} from "../../outbound/secrets/resolve-call.ts";
import type { FindToken } from "../../outbound/tools/find-token.ts";
import type { AgentKey } from "../../platform/agent-key.ts";

export interface CheckConnectionDeps {
  readonly oauth: Pick<OAuthClient, "discoverConfiguration">;
  readonly findSecrets: FindSecrets;
  readonly findToken: FindToken;
  /** The address at which browsers reach this installation. */
  readonly publicUrl: string | undefined;
}

/** The problems with the accounts that a tool is called with, as far as they show before a user consents. */
export type CheckConnection = (
  agent: AgentKey,
  tool: OAuthTool,
  field: string,
  signal: AbortSignal,
) => Promise<AgentProblem[]>;

/** Why the client's secret cannot be sent to the provider: it must exist, and be for its host. Undefined if it can. */
export async function findClientSecretRefusal(
  findSecrets: FindSecrets,
  agent: AgentKey,
  { name, connection }: OAuthTool,
  tokenEndpoint: string,
): Promise<RefusedSecretError | undefined> {
  const headers = { authorization: connection.client_secret ?? "" };
  const names = secretNamesOf({ headers });
  if (names.length === 0) return undefined;
  const found = await findSecrets(agent, names);
  return findRefusal({ subject: `The provider of the tool ${name}`, url: tokenEndpoint, headers }, agent, found);
}

export function createCheckConnection({
  oauth,
  findSecrets,
  findToken,
  publicUrl,
}: CheckConnectionDeps): CheckConnection {
  const check = async (agent: AgentKey, tool: OAuthTool, field: string, signal: AbortSignal) => {
    const { connection, type, name, url } = tool;
    if (connection.account === "agent") {
      // The tools of a server are listed with the token, so that this would only be a second one.
      if (type === "http") await findToken({ ...agent, userId: null }, { type, name, url, connection }, { signal });
      return [];
    }
    if (publicUrl === undefined) return [{ kind: "tool" as const, field, message: noPublicUrl }];
    const configuration = await oauth.discoverConfiguration(agent, tool, { registrations: noRegistrations, signal });
    const refusal = await findClientSecretRefusal(findSecrets, agent, tool, configuration.tokenEndpoint);
    return refusal ? [{ kind: "secret" as const, field: `${field}.client_secret`, message: refusal.message }] : [];
  };

  return async (agent, tool, field, signal) => {
    try {
      return await check(agent, tool, field, signal);
    } catch (error) {
      if (!(error instanceof OutsideError) && !isRefusedCall(error)) throw error;
      return [{ kind: "tool", field, message: error.message }];
    }
  };
}
