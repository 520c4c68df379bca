import { describe, expect, test } from "vitest";
import {
  AgentDefinition,
  hasOnlySecretReferences,
  ProviderApiKey,
  RequestHeaders,
  RequestQuery,
  replaceSecrets,
  SecretValue,
  secretNamesIn,
  wholeSecretName,
} from "../src/index.ts";

describe("a reference to a secret", () => {
  test.each([
    ["Bearer {{secret.github_token}}", ["github_token"]],
    ["{{secret.a}}:{{secret.b}}:{{secret.a}}", ["a", "b"]],
    ["{{{secret.a}}}", ["a"]],
    ["{{ secret.a }}", []],
    ["{{secret.A}}", []],
    ["{{secret.1a}}", []],
    ["{{secret.}}", []],
    ["{{secret.a-b}}", []],
    ["{{env.a}}", []],
    ["{secret.a}", []],
    [`{{secret.${"a".repeat(64)}}}`, []],
  ])("%s names %j", (text, names) => {
    expect(secretNamesIn(text)).toEqual(names);
  });

  test("is replaced once: what a value says is not looked at again", () => {
    const values: Record<string, string> = { a: "{{secret.b}} $& $1", b: "the value of b" };
    expect(replaceSecrets("<{{secret.a}}> <{{secret.b}}>", (name) => values[name] ?? "")).toBe(
      "<{{secret.b}} $& $1> <the value of b>",
    );
  });

  test.each([
    ["{{secret.a}}", true],
    ["a } b { c", true],
    ["{{secret.A}}", false],
    ["{{{{secret.a}}}}", false],
    ["{{secret.a}}}}", false],
    ["{{sec{{secret.a}}ret.b}}", false],
  ])("%s has no other double braces: %s", (text, isAllowed) => {
    expect(hasOnlySecretReferences(text)).toBe(isAllowed);
  });

  test("is the whole of a provider's API key, or no part of it", () => {
    expect(wholeSecretName("{{secret.openai_key}}")).toBe("openai_key");
    for (const part of [" {{secret.a}}", "{{secret.a}}{{secret.a}}", "x{{secret.a}}", "sk-1", ""])
      expect(wholeSecretName(part)).toBeUndefined();
    const isAllowed = (key: string) => ProviderApiKey.safeParse(key).success;
    expect(["{{secret.a}}", "sk-1", "a{b}c"].map(isAllowed)).toEqual([true, true, true]);
    expect(["x{{secret.a}}", "{{secret.a}}{{secret.b}}", "{{a}}", "a}}b"].map(isAllowed)).not.toContain(true);
  });

  test.each([
    ["an MCP server", { tools: [{ type: "mcp", name: "t", url: "https://a.example/{{secret.a}}" }] }],
    [
      "an MCP server, encoded",
      { tools: [{ type: "mcp", name: "t", url: "https://a.example/?k=%7B%7bsecret.a%7d%7D" }] },
    ],
    [
      "an HTTP tool",
      {
        tools: [
          {
            type: "http",
            name: "t",
            description: "",
            method: "GET",
            url: "https://a.example/?key={{secret.a}}",
            parameters: { type: "object" },
          },
        ],
      },
    ],
    ["a remote agent", { runtime: { type: "http", url: "https://a.example/{{secret.a}}" } }],
  ])("is refused in the address of %s, which every reader sees", (_, part) => {
    const { error } = AgentDefinition.partial().safeParse(part);
    expect(error?.issues.map(({ message }) => message)).toContain(
      "An address cannot refer to a secret: put it into `headers` or `query`",
    );
  });
});

describe("headers and query parameters of a request", () => {
  test.each([
    ["one that Perch sets", { "User-Agent": "x" }],
    ["what a proxy says of its client", { "X-Forwarded-For": "203.0.113.7" }],
    ["what a proxy says of its client", { "Client-Cert": "x" }],
    ["one that Perch signs", { "Signature-Input": "x" }],
    ["one that says whose agent calls", { "Perch-Organisation": "org_01m7evf01ne8nv228qpt0msbq9" }],
    ["one of the body", { "Content-Type": "text/plain" }],
    ["one of the connection", { "transfer-encoding": "chunked" }],
    ["one of a proxy", { "Proxy-Authorization": "x" }],
    ["one of MCP", { "Mcp-Session-Id": "x" }],
    ["a line break in a value", { "X-Key": "a\r\nHost: evil.example" }],
    ["a line break in a name", { "X-Key\r\nHost": "a" }],
    ["a tab", { "X-Key": "a\tb" }],
    ["a character beyond ASCII", { "X-Key": "é" }],
    ["nothing", { "X-Key": "" }],
    ["a space at its end", { "X-Key": "a " }],
    ["a wrong reference", { "X-Key": "{{secrets.a}}" }],
    ["the same name twice", { "X-Key": "a", "x-key": "b" }],
  ])("are refused with %s", (_, headers) => {
    expect(RequestHeaders.safeParse(headers).success).toBe(false);
  });

  test("may be those that tools ask for", () => {
    const headers = { Authorization: "Bearer {{secret.a}}", Cookie: "s={{secret.b}}", "X-Api-Key": "{{secret.c}}" };
    expect(RequestHeaders.parse(headers)).toEqual(headers);
    const query = { "api-key": "{{secret.a}}", "filter[a]": "plain", $top: "5" };
    expect(RequestQuery.parse(query)).toEqual(query);
    expect(RequestQuery.safeParse({ "a&b": "x" }).success).toBe(false);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, "x"]));
    expect(RequestQuery.safeParse(many).success).toBe(false);
  });
});

test("the value of a secret is 8 to 4,096 printable ASCII characters without spaces around them", () => {
  const isAllowed = (value: string) => SecretValue.safeParse(value).success;
  expect(["12345678", "with a space", "x".repeat(4096), "{{secret.a}}", '"\\/'.repeat(3)].map(isAllowed)).not.toContain(
    false,
  );
  const refused = ["1234567", "x".repeat(4097), "two\nlines!", "null\0null", " leading1", "trailing ", "ümlaute!"];
  expect(refused.map(isAllowed)).not.toContain(true);
});
