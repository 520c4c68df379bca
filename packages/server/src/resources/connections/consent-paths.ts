import {
  callbackPath,
  clientDocument,
  clientDocumentPath,
  issuerFromPath,
} from "../../outbound/oauth/redirect-address.ts";

/** Where the pages of a consent are, and what providers read: see `connect-routes.ts`. */
export const consentPaths = { connect: "/connect/", callback: callbackPath, clients: clientDocumentPath } as const;

/** `path` is as it came over the wire. Undefined if it is no issuer's. */
export function findClientDocument(publicUrl: string, path: string): object | undefined {
  const issuer = issuerFromPath(path.slice(consentPaths.clients.length));
  return issuer === undefined ? undefined : clientDocument(publicUrl, issuer);
}
