import type { AgentAuth, Permission, SecuritySettings, ShownAuth } from "@perch/contract";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { Caller } from "../handlers.ts";
import type { SecondFactor } from "../mfa/second-factor.ts";
import type { Sealer } from "../platform/secrets.ts";
import { openAuth, splitAuth } from "./agent-auth.ts";
import type { Authorities } from "./certificate-rules.ts";
import type { Client } from "./client.ts";
import { hstsHeader, type Objection, type TransportSettings, transportObjection } from "./transport-rules.ts";
import { createVerifyUser, type VerifyUser } from "./user-tokens.ts";
import type { VerifyOAuth } from "./verify-oauth.ts";

/** What the operator asks for on every path. The same blocks as an agent's, and what only a server has. */
export interface InstanceSecurity extends TransportSettings, Pick<SecuritySettings, "hsts" | "mfa"> {
  readonly auth?: AgentAuth | undefined;
}

/** Named operations of `security.mfa`; and changes to keys, which a key with a second factor never makes without it. */
export type MfaOperation = "delete" | "update" | "keys";

interface GuardDeps {
  readonly instance: InstanceSecurity;
  readonly agentAuth: Sealer;
  readonly verifyOAuth: VerifyOAuth;
  readonly authorities: Authorities;
  readonly secondFactor: Pick<SecondFactor, "verify" | "isEnrolled">;
  readonly now: () => number;
}

/** Settings, made ready. */
interface Protection {
  readonly object: Objection | undefined;
  readonly hsts: SecuritySettings["hsts"] | undefined;
  readonly verifyUser: VerifyUser | undefined;
  readonly mfa: ReadonlySet<MfaOperation>;
}

export interface Guard {
  /** The instance's connection settings. Throws where they refuse. */
  readonly admitClient: (client: Client) => void;
  /** The rest of the instance's settings and all of the agent's, for a caller whose key is known. May narrow what it can do. */
  readonly admitCaller: (
    client: Client,
    caller: Caller,
    agent: AgentRow | undefined,
    mfa: MfaOperation | undefined,
  ) => Promise<Caller>;
  readonly hsts: (client: Client, agent?: AgentRow) => string | undefined;
  /** Asks for the second factor now, where the agent has one for anything: whoever may turn it off must have it. */
  readonly demandFactor: (client: Client, caller: Caller, agent: AgentRow) => Promise<void>;
  /** Whether settings would refuse the very request that sets them. */
  readonly wouldRefuse: (settings: SecuritySettings, client: Client) => boolean;
}

const mfaOf = (mfa: SecuritySettings["mfa"] | undefined): ReadonlySet<MfaOperation> =>
  new Set(mfa?.enabled ? mfa.operations : []);

const narrowed = (held: ReadonlySet<Permission>, allowed: ReadonlySet<Permission> | null): ReadonlySet<Permission> =>
  allowed === null ? held : new Set([...held].filter((permission) => allowed.has(permission)));

export function createGuard(deps: GuardDeps): Guard {
  const { instance, agentAuth, authorities, secondFactor, now } = deps;

  const instanceAuth = instance.auth && splitAuth(instance.auth);
  const forAll: Protection = {
    object: transportObjection(instance, authorities),
    hsts: instance.hsts,
    verifyUser: instanceAuth && createVerifyUser(deps, instanceAuth.shown, instanceAuth.secrets),
    mfa: mfaOf(instance.mfa),
  };

  const prepare = (row: AgentRow): Protection => {
    const { security } = storedDefinition(row);
    const shown = row.auth as ShownAuth | null;
    const place = { organisationId: row.organisation_id, agentId: row.id };
    return {
      object: transportObjection(security, authorities),
      hsts: security.hsts,
      verifyUser:
        shown && row.auth_secrets
          ? createVerifyUser(deps, shown, openAuth(agentAuth, { shown, secrets: row.auth_secrets }, place))
          : undefined,
      mfa: mfaOf(security.mfa),
    };
  };

  const needsFactor = (mfa: MfaOperation, own: Protection | undefined) => forAll.mfa.has(mfa) || own?.mfa.has(mfa);

  const prepared = new WeakMap<AgentRow, Protection>();
  /** Made ready once for each reading of a row. */
  const protectionOf = (row: AgentRow): Protection => {
    const known = prepared.get(row);
    if (known) return known;
    const protection = prepare(row);
    prepared.set(row, protection);
    return protection;
  };

  return {
    admitClient: (client) => {
      const objection = forAll.object?.(client, new Date(now()));
      if (objection) throw objection;
    },
    admitCaller: async (client, caller, agent, mfa) => {
      const own = agent && protectionOf(agent);
      const objection = own?.object?.(client, new Date(now()));
      if (objection) throw objection;
      let admitted = caller;
      for (const verify of [forAll.verifyUser, own?.verifyUser]) {
        if (!verify) continue;
        const { id, by, permissions } = await verify(client.userToken);
        admitted = { ...admitted, user: { id, by }, permissions: narrowed(admitted.permissions, permissions) };
      }
      const isNeeded = mfa === "keys" ? await secondFactor.isEnrolled(caller) : mfa && needsFactor(mfa, own);
      if (isNeeded) await secondFactor.verify(caller, client.mfaCode);
      return admitted;
    },
    hsts: ({ isHttps }, agent) => hstsHeader(isHttps, forAll.hsts, agent && protectionOf(agent).hsts),
    demandFactor: async (client, caller, agent) => {
      const own = protectionOf(agent);
      // If changes need it anyway, it was shown at the door, and a code counts only once.
      if (own.mfa.size > 0 && !needsFactor("update", own)) await secondFactor.verify(caller, client.mfaCode);
    },
    wouldRefuse: (settings, client) =>
      transportObjection(settings, authorities)?.(client, new Date(now())) !== undefined,
  };
}
