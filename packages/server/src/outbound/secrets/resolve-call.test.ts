import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { RefusedAddressError } from "../address-guard.ts";
import type { FoundSecret } from "./find-secrets.ts";
import { noRedaction } from "./redactor.ts";
import { createResolveCall, MissingSecretError, SecretHostError, type SecretRefusal } from "./resolve-call.ts";

const owner = { organisationId: "org", agentId: "agent" };
const url = "https://api.example/v1?x=1";

function setUp(secrets: Readonly<Record<string, Partial<FoundSecret>>>) {
  const asked: (readonly string[])[] = [];
  const refused: SecretRefusal[] = [];
  const resolveCall = createResolveCall({
    createRedactor,
    findSecrets: async (_, names) => {
      asked.push(names);
      const found = names.flatMap((name): [string, FoundSecret][] => {
        const secret = secrets[name];
        return secret ? [[name, { value: `value-of-${name}`, origins: ["https://api.example"], ...secret }]] : [];
      });
      return new Map(found);
    },
    onRefused: (reason) => void refused.push(reason),
  });
  const resolve = (headers: Record<string, string>, query: Record<string, string> = {}, at: string = url) =>
    resolveCall(owner, { subject: "The tool search", url: at, headers, query });
  const resolveApproved = (headers: Record<string, string>) =>
    resolveCall(owner, { subject: "The tool search", url, headers, isApproved: true });
  return { asked, refused, resolve, resolveApproved };
}

describe("resolving the secrets of a call", () => {
  test("puts values into headers and query parameters, all found at once", async () => {
    const { resolve, asked } = setUp({ a: {}, b: {} });
    const { headers, query, redactor } = await resolve(
      { Authorization: "Bearer {{secret.a}}", "X-Both": "{{secret.a}}:{{secret.b}}", "X-Plain": "as it is" },
      { key: "{{secret.b}}" },
    );
    expect(headers).toEqual({
      authorization: "Bearer value-of-a",
      "x-both": "value-of-a:value-of-b",
      "x-plain": "as it is",
    });
    expect(query).toEqual({ key: "value-of-b" });
    expect(await redactor.text("value-of-a value-of-b")).toBe("[secret a] [secret b]");
    expect(asked).toEqual([["a", "b"]]);
  });

  test("asks for nothing if nothing is referred to", async () => {
    const { resolve, asked } = setUp({});
    expect(await resolve({ Accept: "x" })).toEqual({ headers: { accept: "x" }, query: {}, redactor: noRedaction });
    expect(asked).toEqual([]);
  });

  test("replaces once: a value that looks like a reference, or like a pattern of a replacement, stays as it is", async () => {
    const { resolve, asked } = setUp({ a: { value: "{{secret.b}}$&$1" }, b: {} });
    expect((await resolve({ x: "{{secret.a}}" })).headers).toEqual({ x: "{{secret.b}}$&$1" });
    expect(asked).toEqual([["a"]]);
  });

  test("puts a secret that needs approval only into a call that is approved", async () => {
    verifies("approvals.floor");
    const { resolve, resolveApproved, refused } = setUp({ a: { needsApproval: true }, b: {} });
    const headers = { x: "{{secret.a}}{{secret.b}}" };
    const why = "The tool search cannot be called: the secret a needs a person's approval of each call";
    await expect(resolve(headers)).rejects.toThrow(why);
    expect(refused).toEqual(["approval"]);
    expect((await resolveApproved(headers)).headers).toEqual({ x: "value-of-avalue-of-b" });
  });

  test("names all secrets that are missing, and what to do", async () => {
    const { resolve, refused } = setUp({ a: {} });
    const failed = resolve({ x: "{{secret.a}} {{secret.b}}" }, { y: "{{secret.c}}" });
    await expect(failed).rejects.toThrow(MissingSecretError);
    await expect(failed).rejects.toThrow(
      "The tool search cannot be called: the secrets b, c do not exist. Create them: POST /v1/secrets, or POST /v1/agents/{agent_id}/secrets for one agent alone.",
    );
    expect(refused).toEqual(["missing"]);
  });

  test.each([
    ["another host", "https://evil.example/"],
    ["a host that ends alike", "https://x-api.example/"],
    ["a host below", "https://sub.api.example/"],
    ["another port", "https://api.example:8443/"],
    ["another scheme", "http://api.example/"],
    ["a dot after the host", "https://api.example./"],
    ["the host in the path", "https://evil.example/https://api.example/"],
  ])("refuses %s, in words", async (_, address) => {
    const { resolve, refused } = setUp({ a: {} });
    const failed = resolve({ x: "{{secret.a}}" }, {}, address);
    await expect(failed).rejects.toThrow(SecretHostError);
    await expect(failed).rejects.toThrow(/The tool search cannot be called: the secret a is not for https?:\/\//);
    expect(refused).toEqual(["host"]);
  });

  test("takes a host in upper case and the scheme's own port for what they are", async () => {
    const { resolve } = setUp({ a: {} });
    expect((await resolve({ x: "{{secret.a}}" }, {}, "https://API.Example:443/")).headers).toEqual({ x: "value-of-a" });
  });

  test.each(["https://api.example@evil.example/", "https://user:pass@api.example/", "ftp://api.example/"])(
    "refuses %s before a secret is looked for",
    async (address) => {
      const { resolve, asked } = setUp({ a: {} });
      await expect(resolve({ x: "{{secret.a}}" }, {}, address)).rejects.toThrow(RefusedAddressError);
      expect(asked).toEqual([]);
    },
  );

  test("refuses longer secrets than the search can be prepared for in a short time", async () => {
    const { resolve } = setUp({ a: { value: "a".repeat(4096) }, b: { value: "b".repeat(4096) }, c: {} });
    await expect(resolve({ x: "{{secret.a}}", y: "{{secret.b}}" })).resolves.toBeDefined();
    await expect(resolve({ x: "{{secret.a}}", y: "{{secret.b}}", z: "{{secret.c}}" })).rejects.toThrow(
      "more than 8192 characters together",
    );
  });

  test("refuses a call that a secret, referred to many times, makes large", async () => {
    const { resolve } = setUp({ a: { value: "a".repeat(4096) } });
    await expect(resolve({ x: "{{secret.a}}".repeat(9) })).rejects.toThrow("more than 32768 characters");
  });

  test("refuses more secrets than answers can be searched for", async () => {
    const { resolve, asked } = setUp({});
    const headers = Array.from({ length: 9 }, (_, i) => [`x-${i}`, `{{secret.s${i}}}`]);
    await expect(resolve(Object.fromEntries(headers))).rejects.toThrow("it refers to more than 8 secrets");
    expect(asked).toEqual([]);
  });
});
