import { LRUCache } from "lru-cache";
import { noRegistrations } from "../../outbound/oauth/find-client.ts";
import type { OAuthClient, OAuthTool } from "../../outbound/oauth/oauth-client.ts";
import type { FindToken, ToolToken } from "../../outbound/tools/find-token.ts";
import { minBetweenRejectionsMs, refreshBeforeEndMs } from "./token-rules.ts";

interface AgentTokenDeps {
  readonly oauth: Pick<OAuthClient, "discoverConfiguration" | "clientCredentials">;
  readonly now: () => number;
}

interface KeptToken {
  readonly token: ToolToken;
  readonly fetchedAtMs: number;
  readonly renewAtMs: number;
}

const fetchTimeoutMs = 10_000;
/** Limits the age of a token whose provider does not report its end, or whose client secret may have changed. */
const maxAgeMs = 60 * 60_000;
/** How many tools' tokens a process keeps. */
const maxTokens = 1000;

function renewAt(fetchedAtMs: number, expiresAtMs: number | null): number {
  const latest = fetchedAtMs + maxAgeMs;
  if (expiresAtMs === null) return latest;
  // A token that lives for minutes is renewed after half of its life.
  const early = Math.min(refreshBeforeEndMs, (expiresAtMs - fetchedAtMs) / 2);
  return Math.min(latest, expiresAtMs - early);
}

/**
 * Tokens of agents' own accounts, by client credentials. They need no consent and can be fetched again at any time, so
 * the last used ones stay in this process and are never stored.
 */
export function createFindAgentToken({ oauth, now }: AgentTokenDeps): FindToken {
  const kept = new LRUCache<string, KeptToken>({ max: maxTokens });
  const underWay = new Map<string, Promise<ToolToken>>();
  let fetched = 0;

  const fetchToken = async (owner: Parameters<FindToken>[0], tool: OAuthTool, key: string): Promise<ToolToken> => {
    const signal = AbortSignal.timeout(fetchTimeoutMs);
    // The client is in the definition, so that none is ever registered.
    const configuration = await oauth.discoverConfiguration(owner, tool, { registrations: noRegistrations, signal });
    const { accessToken, expiresAtMs } = await oauth.clientCredentials(owner, configuration, signal);
    fetched += 1;
    const token = { value: accessToken, generation: fetched };
    const fetchedAtMs = now();
    kept.set(key, { token, fetchedAtMs, renewAtMs: renewAt(fetchedAtMs, expiresAtMs) });
    return token;
  };

  const findKept = (key: string, rejected: ToolToken | undefined): ToolToken | undefined => {
    const found = kept.get(key);
    if (!found) return undefined;
    const isRejected = found.token.generation === rejected?.generation;
    const isCurrent = now() < found.renewAtMs && (!isRejected || now() - found.fetchedAtMs < minBetweenRejectionsMs);
    return isCurrent ? found.token : undefined;
  };

  return async (owner, tool, { rejected }) => {
    const { connection } = tool;
    if (connection.account !== "agent") throw new Error("the tool is called with a user's account");
    const { organisationId, agentId } = owner;
    const key = JSON.stringify([organisationId, agentId, tool.type, tool.name, tool.url, connection]);
    const found = findKept(key, rejected) ?? underWay.get(key);
    if (found) return found;
    const started = fetchToken(owner, { ...tool, connection }, key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
