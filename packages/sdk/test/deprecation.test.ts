import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, expect, test, vi } from "vitest";
import { Perch } from "../src/index.ts";

const answer = (headers: Record<string, string>) =>
  new Response(JSON.stringify({ success: true, data: {} }), {
    headers: { "content-type": "application/json", ...headers },
  });
const notice = (operation: string) => ({
  deprecation: "@1767225600",
  sunset: "Wed, 30 Jun 2027 00:00:00 GMT",
  link: `</docs#tag/agents/${operation}>; rel="deprecation"; type="text/html"`,
});
const clientWith = (headers: Record<string, string>) =>
  new Perch({ baseUrl: "https://perch.example", apiKey: "k", fetch: () => Promise.resolve(answer(headers)) });

afterEach(() => vi.restoreAllMocks());

test("a deprecated operation is warned of once in a process, whatever ids its path has", async () => {
  verifies("versioning.deprecation-headers");
  const emitWarning = vi.spyOn(process, "emitWarning").mockReturnValue();
  const perch = clientWith(notice("GET/v1/agents/%7Bagent_id%7D"));
  await perch.agents.get("one");
  await perch.agents.get("two");
  expect(emitWarning.mock.calls).toEqual([
    [
      "GET /v1/agents/one is deprecated since 2026-01-01, and gone from 2027-06-30 on. What to use instead: https://perch.example/docs#tag/agents/GET/v1/agents/%7Bagent_id%7D",
      { type: "DeprecationWarning", code: "PERCH_DEPRECATED" },
    ],
  ]);
  await clientWith(notice("DELETE/v1/agents/%7Bagent_id%7D")).agents.delete("one");
  expect(emitWarning).toHaveBeenCalledTimes(2);
});

test("without a process, the console has the warning", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  vi.stubGlobal("process", undefined);
  try {
    await clientWith({ deprecation: "@1767225600" }).agents.get("three");
  } finally {
    vi.unstubAllGlobals();
  }
  expect(warn.mock.calls).toEqual([
    ["GET /v1/agents/three is deprecated since 2026-01-01. What to use instead: https://perch.example/docs"],
  ]);
});

test("other answers, and headers that are not as expected, leave the call as it is", async () => {
  const emitWarning = vi.spyOn(process, "emitWarning").mockReturnValue();
  await clientWith({}).agents.get("four");
  expect(emitWarning).not.toHaveBeenCalled();
  await clientWith({ deprecation: "true", sunset: "some day", link: "nowhere" }).agents.get("five");
  expect(emitWarning.mock.calls[0]?.[0]).toBe(
    "GET /v1/agents/five is deprecated. What to use instead: https://perch.example/docs",
  );
});
