const mark = "#link=";

let token: string | undefined;

/**
 * A one-time link has its secret in the fragment, which browsers send to no server. It goes out of the address and the history before
 * the router or anything else sees it.
 */
if (location.hash.startsWith(mark)) {
  token = location.hash.slice(mark.length);
  history.replaceState(null, "", location.pathname + location.search);
}

/** The secret of the link that this page was opened with, until it was used. */
export const readSignInLink = (): string | undefined => token;

export function forgetSignInLink(): void {
  token = undefined;
}
