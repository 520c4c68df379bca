import { McpTool } from "@perch/contract";
import { describe, expect, test } from "vitest";
import type { ApiError } from "../../platform/api-error.ts";
import { addToReturnUrl, chooseReturnUrl, chooseUserTool } from "./choose-tool.ts";

const return_urls = ["https://app.example/back", "https://app.example/back?from=perch"];
const connection = { account: "user" as const, return_urls };
const mail = McpTool.parse({ type: "mcp", name: "mail", url: "https://mail.example/mcp", connection });
const plain = McpTool.parse({ type: "mcp", name: "plain", url: "https://plain.example/mcp" });
const machine = McpTool.parse({
  type: "mcp",
  name: "machine",
  url: "https://machine.example/mcp",
  connection: { account: "agent", client_id: "a", client_secret: "{{secret.s}}" },
});

const problemOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as ApiError).details?.[0];
  }
  throw new Error("nothing was refused");
};

describe("the tool of a connection", () => {
  test("is one that has a connection for users", () => {
    expect(chooseUserTool([plain, mail], "mail", "the draft")).toEqual({
      type: "mcp",
      name: "mail",
      url: "https://mail.example/mcp",
      connection,
    });
  });

  test.each(["plain", "machine", "no-such"])("is not %s, and the refusal names those that can be connected", (name) => {
    const problem = problemOf(() => chooseUserTool([plain, machine, mail], name, "the draft"));
    expect(problem?.field).toBe("tool");
    expect(problem?.error).toContain(`"${name}"`);
    expect(problem?.error).toContain('Tools that users can connect: "mail"');
    expect(problemOf(() => chooseUserTool([plain], name, "the draft"))?.error).toContain('"account": "user"');
  });
});

describe("the return address", () => {
  const tool = chooseUserTool([mail], "mail", "the draft");

  test("is the first of those registered, or the one asked for, letter by letter", () => {
    expect(chooseReturnUrl(tool, undefined)).toBe(return_urls[0]);
    expect(chooseReturnUrl(tool, return_urls[1])).toBe(return_urls[1]);
    for (const variant of [
      "https://app.example/back/",
      "https://APP.example/back",
      "https://app.example:443/back",
      "https://app.example/back?",
      "https://app.example/./back",
      "https://app.example/back#x",
      "https://evil.example/back",
      "",
    ])
      expect(
        problemOf(() => chooseReturnUrl(tool, variant)),
        variant,
      ).toMatchObject({ field: "return_url" });
  });

  test("keeps its own query as it is written", () => {
    const add = (url: string) => addToReturnUrl(url, { connection_id: "c", code: "x" });
    expect(add("https://app.example/back")).toBe("https://app.example/back?connection_id=c&code=x");
    expect(add("https://app.example")).toBe("https://app.example/?connection_id=c&code=x");
    expect(add("https://app.example/b?a=b%20c+d&e")).toBe("https://app.example/b?a=b%20c+d&e&connection_id=c&code=x");
    expect(add("https://app.example/b?")).toBe("https://app.example/b?connection_id=c&code=x");
  });

  test.each(["code", "connection_id", "error", "c%6Fde"])("cannot bring a parameter %s of its own", (name) => {
    const url = `https://app.example/back?a=1&${name}=2`;
    const given = { ...mail, connection: { ...connection, return_urls: [url] } };
    expect(McpTool.safeParse(given).success).toBe(false);
  });
});
