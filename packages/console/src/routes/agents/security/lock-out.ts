import type { SecuritySettings } from "@perch/sdk";
import { isInRange } from "./address-range.ts";

/** Facts about this browser and the signed-in key or person. */
export interface Here {
  /** The address that the session was started from; undefined if it is not known. */
  readonly address: string | undefined;
  readonly isHttps: boolean;
  readonly isPerson: boolean;
  readonly hasSecondFactor: boolean;
}

const aboutAddresses = ({ ipWhitelist }: SecuritySettings, { address }: Here): string | undefined => {
  if (!ipWhitelist?.enabled) return undefined;
  if (ipWhitelist.addresses.length === 0)
    return "The list of addresses is empty: the agent refuses every caller, and this console too.";
  if (address === undefined || ipWhitelist.addresses.some((range) => isInRange(address, range))) return undefined;
  return `Your address ${address} is not in the list: after saving, this console cannot reach the agent.`;
};

const aboutSecondFactor = ({ mfa }: SecuritySettings, { isPerson, hasSecondFactor }: Here): string | undefined => {
  if (!mfa?.enabled || mfa.operations.length === 0) return undefined;
  if (isPerson)
    return "A second factor belongs to an API key, and you are signed in as a person: you cannot change these settings again.";
  return hasSecondFactor
    ? undefined
    : "Your key has no second factor: it cannot change these settings again, and can enrol one only with a token from an admin.";
};

const aboutToken = (setsAuth: boolean, { isPerson }: Here): string | undefined => {
  if (!setsAuth) return undefined;
  const always = "A session in the console carries no user's token: after saving, this console cannot reach the agent.";
  return isPerson ? always : `${always} For one hour, your key can still read and update it, to undo this.`;
};

/** The reasons why the agent would refuse this browser's next request. */
export const refusalReasons = (security: SecuritySettings, here: Here): readonly string[] =>
  [
    security.enforceHttps === true && !here.isHttps
      ? "This page was opened over plain HTTP: after saving, it cannot reach the agent. HTTPS must work first."
      : undefined,
    aboutAddresses(security, here),
    security.mtls?.enabled === true
      ? "Requests need a client certificate. A browser has none unless one was installed in it: without, this console cannot reach the agent."
      : undefined,
  ].filter((reason) => reason !== undefined);

/** Sentences about how these settings would lock out the user who saves them. Empty if the page knows of no reason. */
export const lockOutReasons = (
  security: SecuritySettings,
  { setsAuth }: { readonly setsAuth: boolean },
  here: Here,
): readonly string[] =>
  [...refusalReasons(security, here), aboutToken(setsAuth, here), aboutSecondFactor(security, here)].filter(
    (reason) => reason !== undefined,
  );
