import { parsePublicId, toPublicId } from "../../platform/ids.ts";

/**
 * Every authorization server gets a redirect address of its own, and a client id document that names only that one. A server that
 * pretends to be another (a mix-up attack) then receives no code of it, and a code that comes back elsewhere is refused.
 *
 * Both are different for every organisation. Servers remember which client a user has allowed, and need not ask again: with a client of
 * another organisation, or with its client id, one would get the account of a user who never allowed it. Servers send no browser to an
 * address that the client does not have.
 */
export interface OrganisationIssuer {
  readonly organisationId: string;
  readonly issuer: string;
}

/** In lower case, without user, query and fragment, and with no part of a path that a proxy may rewrite. */
const host = String.raw`([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d+)?`;
const segments = String.raw`(/[\w.~!$&'()*+,;=:@%-]+)*/?`;
const issuerPattern = new RegExp(`^https?://${host}${segments}$`);

/** Whether its address survives a browser and a proxy letter by letter, and is unique in a path. */
export function isPlainIssuer(issuer: string): boolean {
  if (!issuerPattern.test(issuer) || !URL.canParse(issuer) || issuer.startsWith("https://http:")) return false;
  const { href } = new URL(issuer);
  return href === issuer || href === `${issuer}/`;
}

const secure = "https://";
const insecure = "http://";

const toPath = (issuer: string): string =>
  issuer.startsWith(secure) ? issuer.slice(secure.length) : `http:${issuer.slice(insecure.length)}`;

const pathOf = ({ organisationId, issuer }: OrganisationIssuer): string =>
  `${toPublicId("organisation", organisationId)}/${toPath(issuer)}`;

function parseIssuerPath(path: string): string | undefined {
  const issuer = path.startsWith("http:") ? insecure + path.slice("http:".length) : secure + path;
  return isPlainIssuer(issuer) && toPath(issuer) === path ? issuer : undefined;
}

/** `path` is as it came over the wire. Undefined if it is not that of an organisation and an issuer. */
export function parseOrganisationIssuer(path: string): OrganisationIssuer | undefined {
  const end = path.indexOf("/");
  const organisationId = parsePublicId("organisation", path.slice(0, Math.max(end, 0)));
  const issuer = parseIssuerPath(path.slice(end + 1));
  return organisationId === undefined || issuer === undefined ? undefined : { organisationId, issuer };
}

/** The message for callers that need the redirect address of a consent if the server has no public address. */
export const noPublicUrl =
  "Users cannot connect accounts on this installation: the operator must set PERCH_PUBLIC_URL to the address at which browsers reach it.";

export const callbackPath = "/oauth/callback/";
export const clientDocumentPath = "/oauth/clients/";

/** The address to which the server with this issuer returns browsers. */
export const redirectAddress = (publicUrl: string, at: OrganisationIssuer): string =>
  publicUrl + callbackPath + pathOf(at);

/** The client id of an organisation at this issuer, if it takes documents for one. */
export const clientDocumentAddress = (publicUrl: string, at: OrganisationIssuer): string =>
  publicUrl + clientDocumentPath + pathOf(at);

/** The metadata of every registration, by document or dynamic. */
export const clientMetadata = (publicUrl: string, redirectUri: string) => ({
  client_name: "Perch",
  client_uri: publicUrl,
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** The document behind `clientDocumentAddress` (draft-ietf-oauth-client-id-metadata-document). */
export const clientDocument = (publicUrl: string, at: OrganisationIssuer) => ({
  client_id: clientDocumentAddress(publicUrl, at),
  ...clientMetadata(publicUrl, redirectAddress(publicUrl, at)),
});
