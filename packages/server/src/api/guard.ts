import {
  type AgentAuth,
  holds,
  type Permission,
  permissions,
  type RedactedAuth,
  type SecuritySettings,
} from "@perch/contract";
import { openAuth, splitAuth } from "../auth/agent-auth.ts";
import type { Caller } from "../auth/caller.ts";
import type { ReadAuthorities } from "../auth/certificate-rules.ts";
import type { Client } from "../auth/client.ts";
import { isInGracePeriod } from "../auth/grace-period.ts";
import type { SecondFactor } from "../auth/second-factor.ts";
import {
  type CheckTransport,
  createTransportCheck,
  hstsHeader,
  type TransportSettings,
} from "../auth/transport-rules.ts";
import type { VerifyOAuth } from "../auth/verify-oauth.ts";
import { createVerifyUser, type VerifyUser } from "../auth/verify-user.ts";
import type { Sealer } from "../platform/sealing.ts";
import type { AgentRow, GuardedAgent } from "../resources/agents/agent-queries.ts";

/** The operator's settings, which apply to every request: the same blocks as an agent's, and those only a server has. */
export interface InstanceSecurity extends TransportSettings, Pick<SecuritySettings, "hsts" | "mfa"> {
  readonly auth?: AgentAuth | undefined;
}

type NamedOperation = NonNullable<SecuritySettings["mfa"]>["operations"][number];

/** The meaning of a change for `security.mfa`. */
export interface MfaOperation {
  readonly name: NamedOperation;
  /** A change to keys. The instance asks for no factor there, but a key that has one always needs it. */
  readonly ofKey: boolean;
}

/** The facts that the guard needs about an operation. */
export interface GuardedOperation {
  readonly mfa: MfaOperation | undefined;
  /**
   * Whether it reads or updates the agent's own settings. The key that set `auth` may do so for an hour without a
   * user's token.
   */
  readonly isOpenInGracePeriod: boolean;
}

interface GuardDeps {
  readonly instance: InstanceSecurity;
  readonly agentAuth: Sealer;
  readonly verifyOAuth: VerifyOAuth;
  readonly readAuthorities: ReadAuthorities;
  readonly secondFactor: Pick<SecondFactor, "verify" | "isEnrolled">;
  readonly now: () => number;
}

/** Settings, parsed and decrypted. */
interface PreparedSettings {
  readonly checkTransport: CheckTransport | undefined;
  readonly hsts: SecuritySettings["hsts"] | undefined;
  readonly verifyUser: VerifyUser | undefined;
  readonly mfa: ReadonlySet<NamedOperation>;
}

export interface Guard {
  /** Whether the instance has connection settings or HSTS. Without, `admitClient` does nothing, and `hsts` only for an agent. */
  readonly hasConnectionSettings: boolean;
  /** Applies the instance's connection settings. Throws if they refuse the client. */
  readonly admitClient: (client: Client) => void;
  /** Applies the rest of the instance's settings and all of the agent's to an authenticated caller. May narrow its permissions. */
  readonly admitCaller: (
    client: Client,
    caller: Caller,
    agent: AgentRow | undefined,
    operation: GuardedOperation,
  ) => Caller | Promise<Caller>;
  /** The settings of an agent that the path does not name, for a caller that `admitCaller` has admitted. */
  readonly admitToAgent: (client: Client, caller: Caller, agent: GuardedAgent) => Promise<Caller>;
  /** Requires the second factor if one of these agents requires it for this change. */
  readonly verifyForAgents: (
    client: Client,
    caller: Caller,
    agents: readonly GuardedAgent[],
    mfa: MfaOperation,
  ) => Promise<void>;
  /**
   * Whether the agent's settings admit a client that has only a link. A link is not enough if the agent requires users'
   * tokens.
   */
  readonly admitsLink: (client: Client, agent: GuardedAgent) => boolean;
  /**
   * Whether the agent's settings admit the browser of a user who is to consent. If the agent requires users' tokens,
   * the user's application has shown one for the link, and shows it again before the consent counts.
   */
  readonly admitsConsent: (client: Client, agent: GuardedAgent) => boolean;
  readonly hsts: (client: Client, agent?: AgentRow) => string | undefined;
  /**
   * Requires the second factor if the agent requires it for any operation. Otherwise it could be turned off without it.
   */
  readonly requireSecondFactor: (client: Client, caller: Caller, agent: AgentRow) => Promise<void>;
  /** Whether settings would refuse the very request that sets them. */
  readonly wouldRefuse: (settings: SecuritySettings, client: Client) => boolean;
}

const mfaOf = (mfa: SecuritySettings["mfa"] | undefined): ReadonlySet<NamedOperation> =>
  new Set(mfa?.enabled ? mfa.operations : []);

const intersectPermissions = (
  held: ReadonlySet<Permission>,
  allowed: ReadonlySet<Permission> | null,
): ReadonlySet<Permission> =>
  allowed === null
    ? held
    : new Set(permissions.filter((permission) => holds(held, permission) && holds(allowed, permission)));

export function createGuard(deps: GuardDeps): Guard {
  const { instance, agentAuth, readAuthorities, secondFactor, now } = deps;

  const instanceAuth = instance.auth && splitAuth(instance.auth);
  const instanceSettings: PreparedSettings = {
    checkTransport: createTransportCheck(instance, readAuthorities),
    hsts: instance.hsts,
    verifyUser: instanceAuth && createVerifyUser(deps, instanceAuth.redacted, instanceAuth.secrets),
    mfa: mfaOf(instance.mfa),
  };

  const prepare = (row: GuardedAgent): PreparedSettings => {
    const security = row.security as SecuritySettings;
    const redacted = row.auth as RedactedAuth | null;
    const agentKey = { organisationId: row.organisation_id, agentId: row.id };
    return {
      checkTransport: createTransportCheck(security, readAuthorities),
      hsts: security.hsts,
      verifyUser:
        redacted && row.auth_secrets
          ? createVerifyUser(deps, redacted, openAuth(agentAuth, { redacted, secrets: row.auth_secrets }, agentKey))
          : undefined,
      mfa: mfaOf(security.mfa),
    };
  };

  const needsSecondFactor = (name: NamedOperation, agentSettings: PreparedSettings | undefined) =>
    instanceSettings.mfa.has(name) || agentSettings?.mfa.has(name) === true;

  /** Whether this change needs the second factor whatever its agent. */
  const isNeededAnyway = ({ name, ofKey }: MfaOperation, caller: Caller): boolean | Promise<boolean> =>
    ofKey ? secondFactor.isEnrolled(caller) : instanceSettings.mfa.has(name);

  const preparedByRow = new WeakMap<GuardedAgent, PreparedSettings>();
  /** Prepares the settings once per row object. */
  const prepareOnce = (row: GuardedAgent): PreparedSettings => {
    const cached = preparedByRow.get(row);
    if (cached) return cached;
    const settings = prepare(row);
    preparedByRow.set(row, settings);
    return settings;
  };

  const verifyUsers = async (
    client: Client,
    caller: Caller,
    verifiers: readonly (VerifyUser | undefined)[],
  ): Promise<Caller> => {
    let admitted = caller;
    for (const verify of verifiers) {
      if (!verify) continue;
      const { id, by, permissions } = await verify(client.userToken, caller.organisation.id);
      admitted = {
        ...admitted,
        user: { id, by },
        permissions: intersectPermissions(admitted.permissions, permissions),
      };
    }
    return admitted;
  };

  const verifyCaller = async (
    client: Client,
    caller: Caller,
    agentSettings: PreparedSettings | undefined,
    mfa: MfaOperation | undefined,
  ): Promise<Caller> => {
    const admitted = await verifyUsers(client, caller, [instanceSettings.verifyUser, agentSettings?.verifyUser]);
    const isNeeded = mfa && ((await isNeededAnyway(mfa, caller)) || agentSettings?.mfa.has(mfa.name));
    if (isNeeded) await secondFactor.verify(caller, client.mfaCode);
    return admitted;
  };

  return {
    hasConnectionSettings: instanceSettings.checkTransport !== undefined || instanceSettings.hsts?.enabled === true,
    admitClient: (client) => {
      const refusal = instanceSettings.checkTransport?.(client, new Date(now()));
      if (refusal) throw refusal;
    },
    admitCaller: (client, caller, agent, { mfa, isOpenInGracePeriod }) => {
      const agentSettings = agent && prepareOnce(agent);
      const refusal = agentSettings?.checkTransport?.(client, new Date(now()));
      if (refusal) throw refusal;
      const isVerified = mfa || instanceSettings.verifyUser || agentSettings?.verifyUser;
      if (!isVerified) return caller;
      const isOpen =
        agent !== undefined && isOpenInGracePeriod && isInGracePeriod(agent, caller, client, new Date(now()));
      if (!agentSettings?.verifyUser || !isOpen) return verifyCaller(client, caller, agentSettings, mfa);
      return verifyCaller(
        client,
        { ...caller, usesGracePeriod: true },
        { ...agentSettings, verifyUser: undefined },
        mfa,
      );
    },
    admitToAgent: async (client, caller, agent) => {
      const { checkTransport, verifyUser } = prepareOnce(agent);
      const refusal = checkTransport?.(client, new Date(now()));
      if (refusal) throw refusal;
      return verifyUsers(client, caller, [verifyUser]);
    },
    verifyForAgents: async (client, caller, agents, mfa) => {
      const isNeeded = agents.some((agent) => prepareOnce(agent).mfa.has(mfa.name));
      // If it is needed anyway, `admitCaller` has verified it already, and a code works only once.
      if (isNeeded && !(await isNeededAnyway(mfa, caller))) await secondFactor.verify(caller, client.mfaCode);
    },
    admitsLink: (client, agent) => {
      const { checkTransport, verifyUser } = prepareOnce(agent);
      return !instanceSettings.verifyUser && !verifyUser && checkTransport?.(client, new Date(now())) === undefined;
    },
    admitsConsent: (client, agent) => prepareOnce(agent).checkTransport?.(client, new Date(now())) === undefined,
    hsts: (client, agent) => {
      const agentHsts = agent && prepareOnce(agent).hsts;
      return (instanceSettings.hsts ?? agentHsts) && hstsHeader(client.isHttps, instanceSettings.hsts, agentHsts);
    },
    requireSecondFactor: async (client, caller, agent) => {
      const agentSettings = prepareOnce(agent);
      // If updates need it anyway, `admitCaller` has verified it already, and a code works only once.
      if (agentSettings.mfa.size > 0 && !needsSecondFactor("update", agentSettings))
        await secondFactor.verify(caller, client.mfaCode);
    },
    wouldRefuse: (settings, client) =>
      createTransportCheck(settings, readAuthorities)?.(client, new Date(now())) !== undefined,
  };
}
