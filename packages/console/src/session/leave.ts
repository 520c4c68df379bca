import { endSession } from "../api/console-sessions.ts";
import { setCsrfToken } from "../api/perch.ts";
import { queryClient } from "../api/query-client.ts";
import { discardUnsaved } from "./unsaved.ts";

const pathHere = (): string => `${location.pathname}${location.search}`;

/** Where a person signs in to another organisation; the browser comes back to the same page. */
export const switchAddress = (organisationId: string, returnTo: string = pathHere()): string =>
  `/console/oidc/start?${new URLSearchParams({ return_to: returnTo, organisation: organisationId })}`;

/**
 * Ends the session and forgets what was loaded with it. The whole page is left, so that nothing stays in memory, nor what is unsaved:
 * without a session it could not be saved.
 */
export async function signOut(returnTo?: string): Promise<void> {
  await endSession("current");
  setCsrfToken(undefined);
  queryClient.clear();
  discardUnsaved();
  const search = returnTo === undefined ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
  location.assign(`/console/sign-in${search}`);
}

/** After the key that was signed in with was taken away: the session has ended with it. */
export function leaveAfterRevokingOwnKey(): void {
  setCsrfToken(undefined);
  queryClient.clear();
  location.assign("/console/sign-in?error=own_key_revoked");
}
