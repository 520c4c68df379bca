import { createPrivateKey } from "node:crypto";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { buildKeyDirectory } from "./key-directory.ts";
import { contentDigest, signMessage } from "./sign-message.ts";
import {
  derivedComponent,
  fieldComponent,
  serializeInput,
  serializeString,
  signatureBase,
} from "./signed-components.ts";

/** `test-key-ed25519` of RFC 9421, appendix B.1.4: public, and never used for anything else. */
const x = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";
const privateKey = createPrivateKey({
  key: { kty: "OKP", crv: "Ed25519", x, d: "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU" },
  format: "jwk",
});
const request = { method: "POST", url: new URL("https://example.com/foo?param=Value&Pet=dog#fragment") };

describe("the vectors of RFC 9421", () => {
  test("B.2.6: an Ed25519 signature of a request", () => {
    verifies("security.signed-calls");
    const components = [
      fieldComponent("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
      derivedComponent("@method", request),
      derivedComponent("@path", request),
      derivedComponent("@authority", request),
      fieldComponent("Content-Type", "application/json"),
      fieldComponent("Content-Length", "18"),
    ];
    const parameters = { created: 1618884473, keyid: "test-key-ed25519" };
    const input = serializeInput(components, parameters);
    expect(signatureBase(components, input)).toBe(
      [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@method": POST',
        '"@path": /foo',
        '"@authority": example.com',
        '"content-type": application/json',
        '"content-length": 18',
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      ].join("\n"),
    );
    expect(signMessage({ privateKey }, "sig-b26", components, parameters)).toEqual({
      input: `sig-b26=${input}`,
      signature: "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
    });
  });

  test("2.1: fields are joined, trimmed and unfolded", () => {
    expect(fieldComponent("Cache-Control", "   max-age=60 ", "    must-revalidate").value).toBe(
      "max-age=60, must-revalidate",
    );
    expect(fieldComponent("X-Obs-Fold-Header", "Obsolete\r\n    line folding.").value).toBe("Obsolete line folding.");
    expect(fieldComponent("X-Empty-Header", "").value).toBe("");
  });

  test("2.2: parts of the request itself", () => {
    const values = (["@method", "@target-uri", "@authority", "@path", "@query"] as const).map(
      (name) => derivedComponent(name, request).value,
    );
    expect(values).toEqual([
      "POST",
      "https://example.com/foo?param=Value&Pet=dog",
      "example.com",
      "/foo",
      "?param=Value&Pet=dog",
    ]);
    const bare = { method: "GET", url: new URL("HTTPS://EXAMPLE.com:443") };
    expect(derivedComponent("@target-uri", bare).value).toBe("https://example.com/");
    expect(derivedComponent("@query", bare).value).toBe("?");
  });
});

describe("the vectors of the web-bot-auth draft", () => {
  test("E.2.1: a request that names its directory", () => {
    const components = [
      derivedComponent("@authority", request),
      { identifier: '"signature-agent";key="agent2"', value: serializeString("https://signature-agent.test") },
    ];
    const { signature } = signMessage({ privateKey }, "sig2", components, {
      created: 1735689600,
      keyid: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
      alg: "ed25519",
      expires: 4889289600,
      nonce: "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
      tag: "web-bot-auth",
    });
    expect(signature).toBe(
      "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    );
  });

  test("E.2.3: a directory that proves whose keys it lists", () => {
    const body = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U","x":"${x}","use":"sig"}]}`;
    const digest = contentDigest(body);
    expect(digest).toBe("sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:");
    const components = [
      { identifier: '"@authority";req', value: "signature-agent.test" },
      fieldComponent("content-digest", digest),
    ];
    const { signature } = signMessage({ privateKey }, "binding", components, {
      created: 1735689600,
      expires: 4889289600,
      keyid: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
      tag: "http-message-signatures-directory",
    });
    expect(signature).toBe(
      "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:",
    );
  });
});

test("the digest of an empty body is that of no bytes", () => {
  expect(contentDigest("")).toBe("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
  expect(contentDigest(new Uint8Array())).toBe(contentDigest(""));
});

test("a text that is not printable ASCII is refused instead of signed", () => {
  expect(() => serializeString('a"\\b')).not.toThrow();
  expect(serializeString('a"\\b')).toBe('"a\\"\\\\b"');
  expect(() => serializeString("a\r\nb")).toThrow("printable ASCII");
});

test("without a public address, the directory has keys and no signatures", () => {
  const key = { keyId: "k", publicKey: x, privateKey, signsFromMs: 1_000_900, retiresAtMs: 2_000_900 };
  const { body, headers } = buildKeyDirectory([key], undefined, 0);
  expect(JSON.parse(body)).toEqual({
    keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x, use: "sig", nbf: 1000, exp: 2000 }],
  });
  expect(Object.keys(headers)).toEqual(["content-type", "cache-control", "content-digest"]);
});
