import { expect, test } from "vitest";
import { Perch } from "../src/index.ts";

/** A client in a page that has a session cookie, and the headers of the requests it made. */
function createPageClient(csrfToken: () => string | undefined) {
  const sent: Headers[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    sent.push(new Headers(init?.headers));
    return Response.json({ data: {} }, { status: sent.length === 2 ? 503 : 200, headers: { "retry-after": "0" } });
  };
  return { sent, perch: new Perch({ baseUrl: "https://perch.example.com", fetch, csrfToken }) };
}

test("a page with a session cookie sends the session's token with every attempt of a change, and no API key", async () => {
  let token = "first";
  const { sent, perch } = createPageClient(() => {
    const current = token;
    token = "second";
    return current;
  });
  await perch.agents.get("bot");
  await perch.agents.pause("bot");
  expect(sent.map((headers) => headers.get("x-csrf-token"))).toEqual([null, "first", "second"]);
  expect(sent.map((headers) => headers.get("authorization"))).toEqual([null, null, null]);
});

test("without a token, none is sent", async () => {
  const { sent, perch } = createPageClient(() => undefined);
  await perch.agents.pause("bot");
  expect(sent.map((headers) => headers.has("x-csrf-token"))).toEqual([false]);
});
