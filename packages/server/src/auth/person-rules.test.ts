import { describe, expect, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { accessFromGroups, groupsFromClaims, personFromClaims } from "./person-rules.ts";

const [first, second] = [newUuid(), newUuid()];

describe("the person in an issuer's claims", () => {
  test("has a subject, a name and an email; a user name stands in for a missing name", () => {
    expect(personFromClaims({ sub: "u1", name: "Ada Lovelace", email: "ada@acme.example" })).toEqual({
      subject: "u1",
      name: "Ada Lovelace",
      email: "ada@acme.example",
    });
    expect(personFromClaims({ sub: "u1", preferred_username: "ada" })).toEqual({
      subject: "u1",
      name: "ada",
      email: null,
    });
  });

  test.each([[false], ["false"]])(
    "an email address that the issuer has not verified (%o) is left out",
    (email_verified) => {
      const claims = { sub: "u1", email: "ada@acme.example" };
      expect(personFromClaims({ ...claims, email_verified })?.email).toBeNull();
      expect(personFromClaims({ ...claims, email_verified: true })?.email).toBe("ada@acme.example");
    },
  );

  test.each([
    ["characters that reorder text", "Ada\u202e moc.live\u2066", "Ada moc.live"],
    ["characters that hide", "A\u200bd\u00ada\u{e0041}", "A d a"],
    ["line breaks and control characters", "Ada\r\n\tLovelace\u0007\u001b[31m", "Ada Lovelace [31m"],
    ["NUL and half a character", "A\0da\ud800", "Ada\ufffd".slice(0, 3)],
    ["nothing but spaces", " \u200b\u2028 ", null],
    ["a number", 7, null],
    ["a list", ["Ada"], null],
    ["an object", { toString: "Ada" }, null],
  ])("a name with %s is cleaned", (_, name, expected) => {
    expect(personFromClaims({ sub: "u1", name })?.name).toBe(expected);
  });

  test("a name of a megabyte is cut to 200 characters, and an email of one is left out", () => {
    const person = personFromClaims({ sub: "u1", name: "n".repeat(1_000_000), email: `${"e".repeat(1_000_000)}@a.b` });
    expect(person?.name).toHaveLength(200);
    expect(person?.email).toBeNull();
  });

  test.each(["not an address", "a@b@c", "ada@acme.example\u202e", "<ada@acme.example>", 5, null, ["ada@acme.example"]])(
    "%s is no email",
    (email) => {
      expect(personFromClaims({ sub: "u1", email })?.email).toBeNull();
    },
  );

  test.each([undefined, "", 5, null, ["u1"], "u\0", "half \ud800", "u".repeat(256)])(
    "%s is no subject: it is refused and not cleaned, because two people could become one",
    (sub) => {
      expect(personFromClaims({ sub })).toBeUndefined();
    },
  );
});

describe("the groups in an issuer's claims", () => {
  test("are a list of texts, or one text; other values are not groups", () => {
    expect(groupsFromClaims({ groups: ["a", "b"] }, "groups")).toEqual(new Set(["a", "b"]));
    expect(groupsFromClaims({ hd: "acme.example" }, "hd")).toEqual(new Set(["acme.example"]));
    expect(groupsFromClaims({ groups: [1, null, { a: "b" }, "c"] }, "groups")).toEqual(new Set(["c"]));
    for (const hostile of [{ a: true }, 5, true, null, [["admins"]]])
      expect(groupsFromClaims({ groups: hostile }, "groups")).toEqual(new Set());
  });

  test("are unknown if the claim is missing, and a property of every object is not a claim", () => {
    expect(groupsFromClaims({}, "groups")).toBeUndefined();
    expect(groupsFromClaims({}, "constructor")).toBeUndefined();
  });
});

describe("what a person may do", () => {
  const mappings = [
    { group: "viewers", organisationId: first, role: "viewer", mayApprove: false },
    { group: "admins", organisationId: first, role: "admin", mayApprove: false },
    { group: "developers", organisationId: first, role: "developer", mayApprove: false },
    { group: "developers", organisationId: second, role: "developer", mayApprove: false },
    { group: "approvers", organisationId: first, role: "viewer", mayApprove: true },
  ] as const;

  test("is the strongest role among the person's groups, in each organisation", () => {
    expect(accessFromGroups(new Set(["viewers", "admins", "developers"]), mappings)).toEqual([
      { organisationId: first, role: "admin", mayApprove: false },
      { organisationId: second, role: "developer", mayApprove: false },
    ]);
    expect(accessFromGroups(new Set(["viewers"]), mappings)).toEqual([
      { organisationId: first, role: "viewer", mayApprove: false },
    ]);
  });

  test("includes decisions if any of the groups may approve, only in its organisation, whichever group gives the role", () => {
    for (const listed of [mappings, mappings.toReversed()])
      expect(new Set(accessFromGroups(new Set(["developers", "approvers"]), listed))).toEqual(
        new Set([
          { organisationId: first, role: "developer", mayApprove: true },
          { organisationId: second, role: "developer", mayApprove: false },
        ]),
      );
  });

  test("is nothing for groups that are not mapped; names are compared exactly", () => {
    expect(accessFromGroups(new Set(["Admins", "admins ", "other"]), mappings)).toEqual([]);
    expect(accessFromGroups(new Set(), mappings)).toEqual([]);
  });
});
