import type { InstallationPart } from "@perch/sdk";
import { expect, test } from "vitest";
import { summaryOf, whyNoReleases } from "./part-words.ts";

const part = (name: InstallationPart["name"], status: InstallationPart["status"]): InstallationPart => ({
  ...{ name, status, address: null, latency_ms: null, message: null },
});

test("the sentence about all parts names the worst: silent before degraded, and a part that is not configured is not a problem", () => {
  expect(summaryOf([part("database", "ok"), part("valkey", "not_configured")])).toEqual({
    status: "ok",
    text: "All parts answer",
  });
  expect(summaryOf([part("database", "degraded"), part("valkey", "ok")]).text).toBe("Database needs attention");
  expect(summaryOf([part("database", "degraded"), part("valkey", "silent")])).toEqual({
    status: "silent",
    text: "Valkey is silent",
  });
  expect(summaryOf([part("engine", "silent"), part("valkey", "silent")]).text).toBe("2 parts are silent");
  expect(summaryOf([part("engine_admin", "ok"), part("workers", "unknown")]).text).toBe("Workers: not known");
});

test("an admin port that answers is not called silent because the engine still counts", () => {
  expect(whyNoReleases([part("engine_admin", "silent"), part("engine_admin", "ok")])).toContain("The engine answers");
  expect(whyNoReleases([part("engine", "ok"), part("engine_admin", "silent")])).toContain("did not answer");
});
