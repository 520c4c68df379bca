import { describe, expect, test } from "vitest";
import { safeReturnTo } from "./return-to-rules.ts";

describe("where a browser goes after a sign-in", () => {
  test.each(["/console", "/console/agents", "/console/runs?status=failed&agent=a%2Fb", "/console/runs#step-2"])(
    "%s is a page of the console",
    (path) => {
      expect(safeReturnTo(path)).toBe(path);
    },
  );

  test.each([
    undefined,
    "",
    "https://evil.example/console",
    "//evil.example/console",
    "/\\evil.example/console",
    "\\\\evil.example",
    "/\t/evil.example",
    "/console\r\nLocation: https://evil.example",
    "/console/../v1/agents",
    "/console/%2e%2e/v1/agents",
    "/console/..//evil.example",
    "/consolex",
    "/v1/agents",
    "/",
    "console/agents",
    "javascript:alert(1)",
    "/console/sign-in?error=denied",
    "/console/oidc/start",
    "/console/OIDC/callback",
    `/console/${"a".repeat(1000)}`,
    `/console/runs?q=${"\u65e5".repeat(200)}`,
  ])("%j leads to the console's first page", (path) => {
    expect(safeReturnTo(path)).toBe("/console");
  });
});
