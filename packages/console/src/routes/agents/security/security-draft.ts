import type { Agent, AgentAuth, SecuritySettings, UpdateAgent } from "@perch/sdk";

type Compared = Pick<Agent, "security" | "auth">;

type Blocks = { readonly [K in keyof SecuritySettings]-?: NonNullable<SecuritySettings[K]> };

/** The content of the form: every block, including those that are not set. */
export interface SecurityDraft extends Blocks {
  /** Undefined leaves it unchanged. Null removes it. */
  readonly auth: AgentAuth | null | undefined;
}

export const draftOf = ({ security }: Compared): SecurityDraft => ({
  enforceHttps: security.enforceHttps ?? false,
  hsts: security.hsts ?? { enabled: false, maxAge: 31_536_000 },
  ipWhitelist: security.ipWhitelist ?? { enabled: false, addresses: [] },
  rateLimit: security.rateLimit ?? { enabled: false, requests: 60, window: "1m" },
  mfa: security.mfa ?? { enabled: false, operations: [] },
  mtls: security.mtls ?? { enabled: false, caCert: "", clientCert: "", clientKey: "" },
  approvals: { tools: security.approvals?.tools ?? [], hosts: security.approvals?.hosts ?? [] },
  auth: undefined,
});

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether another user has changed the settings of this form. Other changes of the agent, such as its status, do not count. */
export const isChangedSince = (began: Compared, now: Compared): boolean =>
  !isSame(draftOf(began), draftOf(now)) || !isSame(began.auth, now.auth);

/** Only the blocks that were changed. */
export function patchOf(agent: Compared, draft: SecurityDraft): UpdateAgent {
  const { auth, ...blocks } = draft;
  const stored = draftOf(agent);
  const names = Object.keys(blocks) as (keyof typeof blocks)[];
  const changed = names.filter((name) => !isSame(blocks[name], stored[name]));
  // Certificates need paths, unless there are none at all.
  const sentValue = (name: keyof typeof blocks) =>
    name === "mtls" && !draft.mtls.enabled && draft.mtls.caCert === "" ? null : blocks[name];
  return {
    ...(changed.length > 0 && { security: Object.fromEntries(changed.map((name) => [name, sentValue(name)])) }),
    ...(auth !== undefined && { auth }),
  };
}
