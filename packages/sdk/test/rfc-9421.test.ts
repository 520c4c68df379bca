import vectors from "@perch/testkit/message-signatures/rfc-9421.json" with { type: "json" };
import { describe, expect, test } from "vitest";
import { utf8 } from "../src/bytes.ts";
import { type Message, readFields, signatureBase } from "../src/verify-request/signed-components.ts";
import { base64In, type Member, parseDictionary } from "../src/verify-request/structured-fields.ts";
import { importKey } from "../src/verify-request/verification-key.ts";

type Request = (typeof vectors.signatures)[number]["request"];

const toMessage = ({ method, target_uri, headers }: Request): Message => ({
  method,
  targetUri: target_uri,
  field: readFields(headers as unknown as readonly [string, string][]),
});

function memberOf(name: string, text: string | undefined, label: string): Member {
  const member = parseDictionary(name, text ?? "").get(label);
  if (!member) throw new Error(`${name} has no ${label}`);
  return member;
}

const [keyId, { key }] = (await importKey(vectors.key)) ?? (() => expect.unreachable("the key was not read"))();

describe("the examples of RFC 9421", () => {
  test("name the key by its thumbprint", () => {
    expect(keyId).toBe(vectors.thumbprint);
  });

  test.each(vectors.bases)("section $section: $title has the signature base of the RFC", ({ request, input, base }) => {
    const member = memberOf("signature-input", `sig=${input}`, "sig");
    expect(signatureBase(toMessage(request), member).split("\n")).toEqual(base);
  });

  test.each(vectors.unsupported)("section $section: $title is refused, not guessed", ({ request, input }) => {
    const member = memberOf("signature-input", `sig=${input}`, "sig");
    expect(() => signatureBase(toMessage(request), member)).toThrow(
      expect.objectContaining({ reason: "unsupported_component" }),
    );
  });

  test.each(vectors.signatures)("appendix $section: $title, and verifies: $verifies", async (vector) => {
    const message = toMessage(vector.request);
    const input = memberOf("signature-input", message.field("signature-input"), vector.label);
    const { value } = memberOf("signature", message.field("signature"), vector.label);
    const signature = Buffer.from(base64In(value) ?? "", "base64");
    const base = utf8(signatureBase(message, input));
    expect(await crypto.subtle.verify("Ed25519", key, signature, base)).toBe(vector.verifies);
  });
});
