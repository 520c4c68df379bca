import { endSession } from "../api/console-sessions.ts";
import { setCsrfToken } from "../api/perch.ts";
import { queryClient } from "../api/query-client.ts";
import { discardUnsaved } from "./unsaved.ts";

const pathHere = (): string => `${location.pathname}${location.search}`;

/** The sign-in page for another organisation; the browser comes back to the same page afterwards. */
export const switchAddress = (organisationId: string, returnTo: string = pathHere()): string =>
  `/console/oidc/start?${new URLSearchParams({ return_to: returnTo, organisation: organisationId })}`;

/**
 * Ends the session and discards everything that was loaded with it. The browser leaves the whole page, so that nothing stays in memory.
 * Unsaved work goes too, because it could not be saved without a session.
 */
export async function signOut(returnTo?: string): Promise<void> {
  await endSession("current");
  setCsrfToken(undefined);
  queryClient.clear();
  discardUnsaved();
  const search = returnTo === undefined ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
  location.assign(`/console/sign-in${search}`);
}

/** Called after the session's key was revoked: the session has ended with it. */
export function leaveAfterRevokingOwnKey(): void {
  setCsrfToken(undefined);
  queryClient.clear();
  location.assign("/console/sign-in?error=own_key_revoked");
}
