import { describe, expect, test } from "vitest";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import {
  callbackPath,
  clientDocument,
  clientDocumentAddress,
  isPlainIssuer,
  parseOrganisationIssuer,
  redirectAddress,
} from "./redirect-address.ts";

const perch = "https://perch.example";
const organisationId = newUuid();
const pathOf = (address: string): string => new URL(address).pathname.slice(callbackPath.length);

describe("every issuer has a redirect address of its own", () => {
  const issuers = [
    "https://as.example",
    "https://as.example/",
    "https://as.example/tenant",
    "https://as.example/tenant/",
    "https://as.example:8443/a/b%20c",
    "http://127.0.0.1:8080",
    "http://127.0.0.1:8080/x",
    "http://localhost",
  ];

  test.each(issuers)("from which it is found again: %s", (issuer) => {
    const address = redirectAddress(perch, { organisationId, issuer });
    expect(new URL(address).href).toBe(address);
    expect(isPlainIssuer(issuer)).toBe(true);
    expect(parseOrganisationIssuer(pathOf(address))).toEqual({ organisationId, issuer });
  });

  test("that no other has, and no other organisation", () => {
    const organisations = [organisationId, newUuid()];
    const places = issuers.flatMap((issuer) => organisations.map((id) => ({ organisationId: id, issuer })));
    for (const addressOf of [redirectAddress, clientDocumentAddress])
      expect(new Set(places.map((at) => addressOf(perch, at))).size).toBe(places.length);
  });

  test("that its client id document names, and no other", () => {
    for (const issuer of issuers) {
      const at = { organisationId, issuer };
      const document = clientDocument(perch, at);
      expect(document.client_id).toBe(clientDocumentAddress(perch, at));
      expect(document.redirect_uris).toEqual([redirectAddress(perch, at)]);
      expect(document.token_endpoint_auth_method).toBe("none");
    }
  });
});

describe("an issuer is refused whose address would not survive a browser or a proxy", () => {
  test.each([
    "https://as.example/a/../b",
    "https://as.example/a//b",
    "https://as.example/%2e%2e/b",
    "https://AS.example",
    "https://as.example:443",
    "https://as.example?x=1",
    "https://as.example#x",
    "https://user@as.example",
    "https://as.example\\@evil.example",
    "https://as.example/a b",
    "ftp://as.example",
    // Its path would be that of http://8080.
    "https://http:8080",
    "//as.example",
    "",
  ])("%j", (issuer) => expect(isPlainIssuer(issuer)).toBe(false));

  test.each([
    "",
    "/",
    "http:",
    "http:/as.example",
    "../as.example",
    "as.example/..",
    "as.example//x",
    "AS.example",
    "a b",
  ])("as a path: %j", (path) =>
    expect(parseOrganisationIssuer(`${toPublicId("organisation", organisationId)}/${path}`)).toBeUndefined(),
  );
});

describe("a path is refused that does not begin with the id of an organisation", () => {
  const id = toPublicId("organisation", organisationId);
  test.each([
    "as.example",
    "/as.example",
    id,
    `${id}as.example`,
    `${id.toUpperCase()}/as.example`,
    `${id.slice(0, -1)}/as.example`,
    `${toPublicId("agent", organisationId)}/as.example`,
    `${organisationId}/as.example`,
    "org_/as.example",
  ])("%j", (path) => expect(parseOrganisationIssuer(path)).toBeUndefined());
});
