import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createTimeFormat } from "../src/output/time.ts";
import { createShell } from "./shell.ts";

afterEach(() => void vi.unstubAllEnvs());

describe("a time for people", () => {
  test.each([
    ["Europe/Berlin", "2026-11-16T17:04:05.123Z", "2026-11-16 18:04:05 CET"],
    ["Europe/Berlin", "2026-07-01T22:30:00.000Z", "2026-07-02 00:30:00 CEST"],
    ["America/New_York", "2026-11-16T03:04:05.000Z", "2026-11-15 22:04:05 EST"],
    ["Asia/Kolkata", "2026-11-16T17:04:05.000Z", "2026-11-16 22:34:05 UTC+5:30"],
    ["UTC", "2026-11-16T17:04:05.000Z", "2026-11-16 17:04:05 UTC"],
  ])("is local and names its zone: %s", (zone, iso, shown) => {
    expect(createTimeFormat(zone)(iso)).toBe(shown);
  });

  test("that is missing is a dash, and text that is not a time stays as it is", () => {
    expect(createTimeFormat()(null)).toBe("-");
    expect(createTimeFormat()("soon")).toBe("soon");
  });
});

test("a command prints local time, UTC with --utc, and the API's value with --json", async () => {
  const agent = { id: "agent_1", name: "bot", status: "running", created_at: "2026-01-31T12:00:00.000Z" };
  const pagination = { limit: 10, offset: 0, total: 1, has_more: false };
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: true, data: [agent], pagination }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const perch = createShell({ cwd: tmpdir(), env: { PERCH_URL: url, PERCH_API_KEY: "k" } });
  vi.stubEnv("TZ", "Asia/Kolkata");
  expect((await perch(["agents"])).stdout).toContain("2026-01-31 17:30:00 UTC+5:30\n");
  expect((await perch(["agents", "--utc"])).stdout).toContain("2026-01-31 12:00:00 UTC\n");
  expect((await perch(["agents", "--json", "--utc"])).json()).toMatchObject({ data: [agent], pagination });
});
