import { type PeopleIssuer, startPeopleIssuer } from "@perch/testkit/identity/people-issuer.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newPublicId } from "../../platform/ids.ts";
import { checkSignIn } from "./check-sign-in.ts";

let issuer: PeopleIssuer;

beforeAll(async () => {
  issuer = await startPeopleIssuer({ origins: ["http://127.0.0.1:7499"], accounts: new Map() });
});
afterAll(() => issuer.stop());

const settingsWith = (change: { readonly issuer?: string; readonly scopes?: string[] }) => ({
  oidc: {
    issuer: issuer.issuer,
    client_id: "perch",
    name: "Acme",
    scopes: ["openid"],
    groups_claim: "groups",
    groups: [{ group: "admins", organisation: newPublicId("organisation"), role: "admin" as const }],
    ...change,
  },
});

const finding = async (settings: Parameters<typeof checkSignIn>[0]) => {
  const [{ status, message } = { status: "none", message: "" }] = await checkSignIn(settings).findings;
  return `${status}: ${message}`;
};

test("an issuer that answers is fine, and so is none at all", async () => {
  expect(await finding(settingsWith({}))).toBe(`ok: ${issuer.issuer} answers; 1 group is mapped`);
  expect(await finding({ oidc: undefined })).toContain("ok: PERCH_OIDC is not set");
  expect(await finding({})).toBe("skipped: PERCH_OIDC cannot be read: see settings");
});

test("an issuer that does not answer, or names another issuer, fails with the setting to correct", async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  expect(await finding(settingsWith({ issuer: nowhere }))).toBe(
    `failed: ${nowhere} does not answer as an OpenID Connect issuer (ECONNREFUSED). Correct \`issuer\` in PERCH_OIDC, or let this machine reach it.`,
  );
  const other = issuer.issuer.replace("127.0.0.1", "localhost");
  expect(await finding(settingsWith({ issuer: other }))).toMatch(/^failed: .*Correct `issuer` in PERCH_OIDC/);
});

test("a scope that the issuer does not list is a warning that names it", async () => {
  expect(await finding(settingsWith({ scopes: ["openid", "teams"] }))).toMatch(
    /^warning: .* does not list the scopes teams and may refuse/,
  );
});
