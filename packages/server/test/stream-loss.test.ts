import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../spec/verifies.ts";
import { invokeAt, scripted } from "./invoking.ts";
import { lastSaid, startScriptServer } from "./script-server.ts";
import { type SeenEvent, streamAt, textOf } from "./streaming.ts";
import { usePerchBehindDoor } from "./worker-door.ts";

const words = (name: string) => Array.from({ length: 40 }, (_, i) => `${name}-${i}`).join(" ");
const callsOf = (message: string) => script.calls.filter((call) => lastSaid(call) === message).length;
/** `same` says the same in every attempt; `other` says something else from its tenth word on. */
const replies: Record<string, () => string> = {
  "warm up": () => "warm",
  same: () => words("same"),
  other: () => words("same").replaceAll(/same-(\d\d)/g, `attempt-${callsOf("other")}-$1`),
};
const script = await startScriptServer((call) => ({ reply: replies[lastSaid(call)]?.() ?? "", word_delay_ms: 50 }));
const behindDoor = usePerchBehindDoor({ PERCH_SCRIPT_URL: script.url });
afterAll(() => script.close());

/** Follows a run whose worker dies when some words have come. */
async function followThroughDeath(message: string): Promise<SeenEvent[]> {
  const { perch, haveWorkers, loseWorker } = behindDoor();
  await haveWorkers(1);
  const organisation = await perch.newOrganisation();
  await scripted(organisation);
  expect((await invokeAt(perch, organisation.adminKey, { message: "warm up" })).data.response).toBe("warm");
  await haveWorkers(2);
  const seen: SeenEvent[] = [];
  let lost: Promise<void> | undefined;
  for await (const event of (await streamAt(perch, organisation.adminKey, { message })).events()) {
    seen.push(event);
    if (textOf(seen).split(" ").length > 15) lost ??= loseWorker("SIGKILL");
  }
  await lost;
  expect(callsOf(message)).toBe(2);
  return seen;
}

describe("a worker killed in the middle of a stream", () => {
  test("an answer that is the same again goes on where it stood: no word comes twice", async () => {
    verifies("invocation.stream");
    const seen = await followThroughDeath("same");
    const said = seen.filter(({ event }) => event === "token").map(({ data }) => String(data.text));
    expect(said.join("")).toBe(words("same"));
    expect(seen.at(-1)).toMatchObject({ event: "done", data: { response: words("same") } });
  }, 60_000);

  test("an answer that is another one replaces what differs, and the client ends with the full text once", async () => {
    const seen = await followThroughDeath("other");
    const answer = words("same").replaceAll(/same-(\d\d)/g, "attempt-2-$1");
    expect(textOf(seen)).toBe(answer);
    expect(seen.at(-1)).toMatchObject({ event: "done", data: { response: answer } });
    const tokens = seen
      .filter(({ event }) => event === "token")
      .map(({ data }) => data as { offset: number; text: string });
    let length = 0;
    const back = tokens.filter(({ offset, text }) => {
      const isBack = offset < length;
      length = offset + text.length;
      return isBack;
    });
    // One token goes back, to the first difference, and none after it.
    const common = words("same").indexOf("same-10") + "attempt-".length;
    expect(back.map(({ offset }) => offset)).toEqual([common]);
  }, 60_000);
});
