import type { Permission } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../auth/caller.ts";
import { ApiError } from "../../platform/api-error.ts";
import { grantedPermissions, refuseEscalation } from "./key-rules.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const later = (ms: number) => new Date(now.getTime() + ms);

const caller = (permissions: Permission[], expiresAt: Date | null = null): Caller => ({
  keyId: "0",
  originId: "0",
  credentialId: "0",
  session: null,
  keyName: "caller",
  organisation: { id: "0", name: "Test", tier: "free" },
  onlyAgentId: null,
  role: null,
  permissions: new Set(permissions),
  expiresAt,
  user: null,
});

function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("not refused");
}

describe("grantedPermissions", () => {
  test("a role stands for its permissions", () => {
    verifies("permissions.roles");
    expect(grantedPermissions({ role: "admin" })).toEqual(["read", "write", "delete", "manage"]);
    expect(grantedPermissions({ role: "developer" })).toEqual(["read", "write"]);
    expect(grantedPermissions({ role: "viewer" })).toEqual(["read"]);
  });

  test("a list is returned in the order of the specification, each permission once", () => {
    expect(grantedPermissions({ permissions: ["manage", "read", "manage", "read"] })).toEqual(["read", "manage"]);
    expect(grantedPermissions({ permissions: ["write"] })).toEqual(["write"]);
  });

  test("requires either a role or permissions, and not both", () => {
    for (const grant of [{ role: "viewer", permissions: ["read"] }, {}] as const) {
      const error = refusalOf(() => grantedPermissions(grant));
      expect(error.code).toBe("invalid_request");
      expect(error.details).toEqual([{ field: "permissions", error: expect.stringMatching(/`role`/) }]);
    }
  });
});

describe("refuseEscalation", () => {
  test("a key grants what it holds, or less", () => {
    const holder = caller(["read", "manage"]);
    for (const granted of [["read"], ["manage"], ["read", "manage"]] as const) {
      expect(() => refuseEscalation(holder, granted, null, now)).not.toThrow();
    }
  });

  test("a caller with manage may grant approve without having it, and no other caller may", () => {
    expect(() => refuseEscalation(caller(["manage"]), ["approve"], null, now)).not.toThrow();
    expect(() => refuseEscalation(caller(["approve"]), ["approve"], null, now)).not.toThrow();
    expect(refusalOf(() => refuseEscalation(caller(["read", "write"]), ["approve"], null, now)).code).toBe("forbidden");
  });

  test("names what it lacks, and only that", () => {
    const error = refusalOf(() => refuseEscalation(caller(["read", "manage"]), ["read", "write", "delete"], null, now));
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringMatching(/: write, delete\.$/) });
  });

  test("an expiry in the past is refused, to the millisecond", () => {
    const holder = caller(["manage"]);
    for (const expiresAt of [now, later(-1)]) {
      const error = refusalOf(() => refuseEscalation(holder, ["manage"], expiresAt, now));
      expect(error).toMatchObject({ code: "invalid_request", details: [{ field: "expires_at" }] });
    }
    expect(() => refuseEscalation(holder, ["manage"], later(1), now)).not.toThrow();
  });

  test("a key that expires cannot create one that expires later, or never", () => {
    const holder = caller(["manage"], later(1000));
    for (const expiresAt of [null, later(1001)]) {
      const error = refusalOf(() => refuseEscalation(holder, ["manage"], expiresAt, now));
      expect(error).toMatchObject({ code: "forbidden", message: expect.stringContaining("2026-03-01T12:00:01.000Z") });
    }
    for (const expiresAt of [later(1), later(1000)]) {
      expect(() => refuseEscalation(holder, ["manage"], expiresAt, now)).not.toThrow();
    }
  });
});
