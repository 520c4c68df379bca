import { describe, expect, test } from "vitest";
import {
  callbackPath,
  clientDocument,
  clientDocumentAddress,
  isPlainIssuer,
  issuerFromPath,
  redirectAddress,
} from "./redirect-address.ts";

const perch = "https://perch.example";

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
    const address = redirectAddress(perch, issuer);
    expect(new URL(address).href).toBe(address);
    expect(isPlainIssuer(issuer)).toBe(true);
    expect(issuerFromPath(new URL(address).pathname.slice(callbackPath.length))).toBe(issuer);
  });

  test("that no other has", () => {
    expect(new Set(issuers.map((issuer) => redirectAddress(perch, issuer))).size).toBe(issuers.length);
  });

  test("that its client id document names, and no other", () => {
    for (const issuer of issuers) {
      const document = clientDocument(perch, issuer);
      expect(document.client_id).toBe(clientDocumentAddress(perch, issuer));
      expect(document.redirect_uris).toEqual([redirectAddress(perch, issuer)]);
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
  ])("as a path: %j", (path) => expect(issuerFromPath(path)).toBeUndefined());
});
