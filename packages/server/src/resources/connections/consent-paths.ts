import {
  callbackPath,
  clientDocument,
  clientDocumentPath,
  parseOrganisationIssuer,
} from "../../outbound/oauth/redirect-address.ts";

/** The paths of a consent's pages, and of the documents for providers: see `connect-routes.ts`. */
export const consentPaths = { connect: "/connect/", callback: callbackPath, clients: clientDocumentPath } as const;

/** `path` is as it came over the wire. Undefined if it is not that of an organisation and an issuer: whether there is such is not asked. */
export function findClientDocument(publicUrl: string, path: string): object | undefined {
  const at = parseOrganisationIssuer(path.slice(consentPaths.clients.length));
  return at && clientDocument(publicUrl, at);
}
