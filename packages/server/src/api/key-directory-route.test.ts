import { createPublicKey, hash, verify } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { startPerch, testConfig } from "../../test/support/harness.ts";
import { runRotateSigningKey } from "../operator/commands/run-rotate-signing-key.ts";
import { UsageError } from "../operator/commands/usage.ts";
import { createLogger } from "../platform/logger.ts";

const path = "/.well-known/http-message-signatures-directory";
const perch = await startPerch({ publicUrl: "https://perch.example" });
afterAll(() => perch.stop());
const { masterKey } = perch.server.core.config;

async function readDirectory(url = perch.url) {
  const response = await fetch(url + path);
  const body = await response.text();
  const { keys } = JSON.parse(body) as { keys: Record<string, string | number>[] };
  return { response, body, keys };
}

async function rotate(...args: string[]): Promise<string> {
  const consoleLog = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    await runRotateSigningKey(testConfig(perch.database, { masterKey }), createLogger("silent"), args);
    return consoleLog.mock.calls.join("\n");
  } finally {
    consoleLog.mockRestore();
  }
}

describe(`GET ${path}`, () => {
  test("lists the public keys as a JWK Set that may be cached, without authentication", async () => {
    verifies("security.signing-keys-listed");
    const { response, keys } = await readDirectory();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/http-message-signatures-directory+json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    expect(keys).toHaveLength(1);
    const [key] = keys;
    expect(key).toEqual({
      kty: "OKP",
      crv: "Ed25519",
      kid: hash("sha256", `{"crv":"Ed25519","kty":"OKP","x":"${key?.x}"}`, "base64url"),
      x: expect.stringMatching(/^[\w-]{43}$/),
      use: "sig",
      nbf: expect.any(Number),
    });
    expect((await fetch(perch.url + path, { method: "HEAD" })).status).toBe(200);
  });

  test("is the same at every node, and lists a new key at once", async () => {
    verifies("security.signing-key-rotation");
    const node = await perch.addApiNode();
    const before = await readDirectory();
    expect((await readDirectory(node.url)).body).toBe(before.body);
    const said = await rotate("--overlap-seconds", "600");
    await sleep(1100);
    const [newest, old] = (await readDirectory()).keys;
    expect(said).toContain(String(newest?.kid));
    expect(old?.kid).toBe(before.keys[0]?.kid);
    expect(Number(newest?.nbf) - Math.floor(Date.now() / 1000)).toBeGreaterThan(540);
    expect(Number(old?.exp) - Number(newest?.nbf)).toBe(600);
    expect((await readDirectory(node.url)).keys).toEqual([newest, old]);
  });

  test("each key signs the answer, only for the public address", async () => {
    const { response, body, keys } = await readDirectory();
    const digest = `sha-256=:${hash("sha256", body, "base64")}:`;
    expect(response.headers.get("content-digest")).toBe(digest);
    const inputs = response.headers.get("signature-input")?.split(", ") ?? [];
    const signatures = response.headers.get("signature")?.split(", ") ?? [];
    expect(inputs).toHaveLength(keys.length);
    for (const [i, { kid, x }] of keys.entries()) {
      const input = inputs[i]?.replace(/^key\d=/, "") ?? "";
      expect(input).toContain(`keyid="${kid}"`);
      expect(input).toContain('tag="http-message-signatures-directory"');
      const base = `"@authority";req: perch.example\n"content-digest": ${digest}\n"@signature-params": ${input}`;
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: String(x) }, format: "jwk" });
      const signature = /:(.+):$/.exec(signatures[i] ?? "")?.[1] ?? "";
      expect(verify(null, Buffer.from(base), key, Buffer.from(signature, "base64"))).toBe(true);
    }
  });

  test("a key that leaked is no longer listed, and the new one signs at once", async () => {
    const before = (await readDirectory()).keys.map(({ kid }) => kid);
    const said = await rotate("--revoke");
    await sleep(1100);
    const { keys } = await readDirectory();
    expect(keys).toHaveLength(1);
    expect(said).toContain(String(keys[0]?.kid));
    expect(before).not.toContain(keys[0]?.kid);
    expect(Number(keys[0]?.nbf)).toBeLessThanOrEqual(Date.now() / 1000);
    expect(perch.server.core.outbound.signingKeys.current().keyId).toBe(keys[0]?.kid);
  });

  test.each([
    ["--overlap-seconds", "599"],
    ["--overlap-seconds", "1e3"],
    ["--revoke", "--overlap-seconds", "600"],
  ])("an overlap in which receivers could miss the key is refused: %s %s", async (...args) => {
    await expect(rotate(...args)).rejects.toBeInstanceOf(UsageError);
  });
});
