import { expect, test } from "vitest";
import { usePerch } from "../../test/support/harness.ts";

const named = usePerch({ securityContact: "mailto:security@perch.example" });
const unnamed = usePerch();

const file = (url: string) => fetch(`${url}/.well-known/security.txt`);

test("security.txt names the contact, and an end within a year", async () => {
  const response = await file(named().url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const text = await response.text();
  expect(text).toContain("Contact: mailto:security@perch.example\n");
  const [, expires = ""] = /^Expires: (\S+)$/m.exec(text) ?? [];
  const days = (Date.parse(expires) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(170);
  expect(days).toBeLessThan(365);
});

test("without a contact there is no such file", async () => {
  expect((await file(unnamed().url)).status).toBe(404);
});
