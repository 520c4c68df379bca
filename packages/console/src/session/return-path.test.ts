import { expect, test } from "vitest";
import { returnPath } from "./return-path.ts";

const origin = "https://perch.example";

test.each([
  ["/console/agents", "/console/agents"],
  ["/console/runs?agent=a&range=7d", "/console/runs?agent=a&range=7d"],
  ["https://perch.example/console/runs", "/console/runs"],
])("after signing in, %s leads to %s", (asked, path) => {
  expect(returnPath(asked, origin)).toBe(path);
});

test.each([
  undefined,
  "",
  "https://evil.example/console/agents",
  "//evil.example/console/agents",
  "/\\evil.example/console/agents",
  "\\\\evil.example\\console\\agents",
  "javascript:alert(1)",
  "data:text/html,x",
  "/v1/agents",
  "/console/../v1/agents",
  "/consoles/",
  "/console/sign-in?return_to=/console/sign-in",
  "/console/oidc/start?organisation=org_x",
  "http://[",
])("after signing in, %s leads to the beginning of the console", (asked) => {
  expect(returnPath(asked, origin)).toBe("/console/");
});
