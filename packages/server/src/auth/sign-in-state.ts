import type { Sealer } from "../platform/sealing.ts";
import type { SignInSecrets } from "./openid-client.ts";

/** How long a person may take at the issuer. */
export const signInMinutes = 10;

/**
 * The state that a browser stores while the person is at the issuer. It is sealed: neither the browser nor a script can
 * read or change it.
 */
export interface SignInState {
  readonly secrets: SignInSecrets;
  /** A path of the console. */
  readonly returnTo: string;
  /** The organisation that the person asked for; null: the first that the groups lead to. */
  readonly organisationId: string | null;
  /**
   * The token of the session that the browser had. The issuer's redirect comes without it, because browsers send that
   * cookie only to this site's own pages.
   */
  readonly replacedToken: string | null;
}

const purpose = "sign-in state";

export const sealSignInState = (sealer: Sealer, state: SignInState, nowMs: number): string =>
  sealer.seal(JSON.stringify({ ...state, expiresAtMs: nowMs + signInMinutes * 60_000 }), purpose).toString("base64url");

/** Undefined if this installation did not seal it, or sealed it too long ago. */
export function openSignInState(sealer: Sealer, sealed: string, nowMs: number): SignInState | undefined {
  try {
    const { expiresAtMs, ...state } = JSON.parse(
      sealer.open(Buffer.from(sealed, "base64url"), purpose),
    ) as SignInState & {
      readonly expiresAtMs: number;
    };
    return nowMs < expiresAtMs ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Browsers take a cookie of this prefix only from the host itself, over HTTPS and for all of its paths. */
export const signInCookieName = (isHttps: boolean): string => (isHttps ? "__Host-perch_sign_in" : "perch_sign_in");

/** `SameSite=Lax`: the browser must send it when the issuer sends the person back. Without a value, the browser forgets it. */
export function signInCookie(sealed: string | undefined, isHttps: boolean): string {
  const attributes = [
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${sealed === undefined ? 0 : signInMinutes * 60}`,
    ...(isHttps ? ["Secure"] : []),
  ];
  return [`${signInCookieName(isHttps)}=${sealed ?? ""}`, ...attributes].join("; ");
}
