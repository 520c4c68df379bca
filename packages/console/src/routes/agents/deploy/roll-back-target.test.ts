import type { Deployment } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { rollBackTarget } from "./roll-back-target.ts";

let hour = 0;
const deployment = (version: string, status: Deployment["status"], other: Partial<Deployment> = {}): Deployment => {
  const at = `2026-01-01T${String(hour++).padStart(2, "0")}:00:00.000Z`;
  const ended_at = status === "active" ? null : at;
  return {
    ...({ id: `dep_${version}`, environment: "production", traffic_percent: 100, activated_at: at } as Deployment),
    rollback_of: null,
    version,
    status,
    ended_at,
    ...other,
  };
};
const rollback = (version: string, status: Deployment["status"]) =>
  deployment(version, status, { rollback_of: "dep_replaced" });
const targetOf = (...deployments: Deployment[]) => {
  const live = deployments.at(-1) as Deployment;
  return rollBackTarget(deployments, live)?.version;
};

describe("rollBackTarget", () => {
  test("is what was live before", () => {
    expect(targetOf(deployment("v1", "superseded"), deployment("v2", "superseded"), deployment("v3", "active"))).toBe(
      "v2",
    );
  });

  test("goes further back after a rollback, not to what was rolled back", () => {
    const first = [deployment("v1", "superseded"), deployment("v2", "superseded"), deployment("v3", "rolled_back")];
    expect(targetOf(...first, rollback("v2", "active"))).toBe("v1");
    expect(targetOf(...first, rollback("v2", "rolled_back"), rollback("v1", "active"))).toBeUndefined();
    expect(targetOf(...first, rollback("v1", "active"))).toBeUndefined();
  });

  test("is never what an earlier rollback removed, whatever was deployed since", () => {
    const first = [deployment("v1", "superseded"), deployment("v2", "superseded"), deployment("v3", "rolled_back")];
    const twice = [...first, rollback("v2", "rolled_back"), rollback("v1", "superseded")];
    expect(targetOf(...twice, deployment("v4", "active"))).toBe("v1");
    expect(targetOf(...twice, deployment("v4", "rolled_back"), rollback("v1", "active"))).toBeUndefined();
    expect(targetOf(...twice, deployment("v1", "active"))).toBeUndefined();
  });

  test("is another version than the live one, also if that was deployed twice", () => {
    const first = [deployment("v1", "superseded"), deployment("v2", "superseded")];
    expect(targetOf(...first, deployment("v2", "active"))).toBe("v1");
    expect(
      targetOf(...first, deployment("v2", "superseded"), deployment("v3", "rolled_back"), rollback("v2", "active")),
    ).toBe("v1");
  });

  test("is never a canary, a failed deployment, or one of another environment", () => {
    const others = [
      deployment("v1", "superseded", { traffic_percent: 10 }),
      deployment("v2", "failed", { activated_at: null }),
      deployment("v3", "superseded", { environment: "staging" }),
    ];
    expect(targetOf(...others, deployment("v4", "active"))).toBeUndefined();
  });
});
