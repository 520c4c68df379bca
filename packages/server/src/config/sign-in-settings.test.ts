import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newPublicId } from "../platform/ids.ts";
import { readConfig } from "./config.ts";

const organisation = newPublicId("organisation");
const oidc = {
  issuer: "https://login.example/realms/acme",
  client_id: "perch",
  client_secret: "client-secret-never-shown",
  groups: [{ group: "perch-admins", organisation, role: "admin" }],
};

const read = (value: unknown, publicUrl: string | undefined = "https://perch.example") =>
  readConfig({
    PERCH_DATABASE_URL: "postgres://perch_server@db.example/perch",
    PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
    PERCH_PUBLIC_URL: publicUrl,
    PERCH_OIDC: typeof value === "string" ? value : JSON.stringify(value),
  });

describe("PERCH_OIDC", () => {
  test("needs an issuer, a client and a group; the rest has a default that every issuer accepts", () => {
    expect(read(oidc).oidc).toEqual({
      ...oidc,
      name: "single sign-on",
      scopes: ["openid", "profile", "email"],
      groups_claim: "groups",
    });
    const { client_secret: _, ...publicClient } = oidc;
    expect(read(publicClient).oidc?.client_secret).toBeUndefined();
  });

  test.each([
    ["no JSON", "{", "PERCH_OIDC must be JSON"],
    ["no issuer", { ...oidc, issuer: undefined }, "PERCH_OIDC.issuer"],
    ["an issuer over http", { ...oidc, issuer: "http://login.example" }, "PERCH_OIDC.issuer must begin with https://"],
    ["a host that only begins like loopback", { ...oidc, issuer: "http://localhost.example" }, "PERCH_OIDC.issuer"],
    ["an issuer with a password", { ...oidc, issuer: "https://me:pw@login.example" }, "PERCH_OIDC.issuer"],
    ["a query", { ...oidc, issuer: "https://login.example/?a=b" }, "PERCH_OIDC.issuer must be the issuer"],
    ["a misspelt field", { ...oidc, clientId: "perch" }, "PERCH_OIDC"],
    ["no groups", { ...oidc, groups: [] }, "PERCH_OIDC.groups must map at least one group"],
    ["an unknown role", { ...oidc, groups: [{ group: "a", organisation, role: "owner" }] }, "PERCH_OIDC.groups.0.role"],
    ["a text that says approve", { ...oidc, groups: [{ ...oidc.groups[0], approve: "yes" }] }, "groups.0.approve"],
    ["an organisation by name", { ...oidc, groups: [{ group: "a", organisation: "acme", role: "admin" }] }, "groups.0"],
    ["no scope openid", { ...oidc, scopes: ["email"] }, "PERCH_OIDC.scopes must include openid"],
    ["two scopes in one", { ...oidc, scopes: ["openid", "profile email"] }, "PERCH_OIDC.scopes.1"],
  ])("with %s it is refused, and the client's secret is not printed", (_, value, expected) => {
    expect(() => read(value)).toThrow(expected);
    expect(() => read(value)).not.toThrow("client-secret-never-shown");
  });

  test("needs PERCH_PUBLIC_URL, to which the issuer sends people back", () => {
    expect(() => read(oidc, "")).toThrow("PERCH_OIDC needs PERCH_PUBLIC_URL");
  });

  test("accepts an issuer over http on loopback only, for development and tests", () => {
    for (const issuer of ["http://127.0.0.1:9000", "http://localhost:9000/realms/x", "http://[::1]:9000"])
      expect(read({ ...oidc, issuer }).oidc?.issuer).toBe(issuer);
  });
});
