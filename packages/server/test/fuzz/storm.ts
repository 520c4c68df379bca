import { type OperationKey, operationKeys } from "@perch/contract";
import fc from "fast-check";
import type { Perch } from "../harness.ts";
import { judge } from "./judge.ts";
import { newResident, Owners, type Resident } from "./population.ts";
import { spoiled } from "./spoiled-wish.ts";
import { trick } from "./tricks.ts";
import { type WireAnswer, WireClient } from "./wire-client.ts";
import { validWish, type Wish } from "./wish.ts";
import { type WrittenRequest, write } from "./written-request.ts";

const atOnce = 64;
const batchSize = 500;
/** Settings lock organisations out and limits use them up: new ones come after so many requests. */
const requestsPerGeneration = 2000;
const residentsAtOnce = 3;

const wishesOf = (key: OperationKey) => {
  const valid = validWish(key);
  const hostile = fc.tuple(valid, trick).map(([wish, how]): Wish => ({ ...wish, kind: "hostile", trick: how }));
  return fc.oneof(
    { weight: 5, arbitrary: valid },
    { weight: 5, arbitrary: spoiled(valid) },
    { weight: 4, arbitrary: hostile },
  );
};
const anyWish = fc.oneof(...operationKeys.map(wishesOf));

const kindOf = ({ status, body }: WireAnswer): string => {
  const code = body.match(/"code":"(\w+)"/)?.[1] ?? "";
  return `${status} ${body.includes("Send the body as JSON") ? "media type" : code}`.trim();
};

/** What came back, by kind of answer; and the first example of each thing that was wrong. */
export class Tally {
  readonly answers = new Map<string, number>();
  readonly succeeded = new Set<string>();
  readonly wrong = new Map<string, string>();
  sent = 0;

  note({ operation, trick: how }: Wish, answer: WireAnswer | undefined): void {
    const kind = answer ? kindOf(answer) : "hung up";
    this.answers.set(kind, (this.answers.get(kind) ?? 0) + 1);
    if (answer && answer.status < 300 && !how) this.succeeded.add(operation);
  }

  complain(wish: Wish, { bytes }: WrittenRequest, answer: WireAnswer | undefined, problem: string): void {
    const title = `${problem}: ${wish.trick?.name ?? wish.operation}`;
    if (this.wrong.has(title)) return;
    const sent = bytes
      .subarray(0, 1500)
      .toString("latin1")
      .replaceAll(/perch_\w+/g, "perch_…");
    const shown = answer ? `${answer.status} ${answer.body.slice(0, 600)}` : "nothing";
    this.wrong.set(title, `${title}, as ${wish.asker}\n${sent}\n-> ${shown}`);
  }
}

/** Sends so many requests, many at once, and judges every answer. The same seed makes the same requests. */
export async function storm(perch: Perch, { requests, seed }: { requests: number; seed: number }): Promise<Tally> {
  const client = new WireClient(perch.url);
  const tally = new Tally();
  const owners = new Owners();
  const tokens = new Set<string>();
  let residents: Resident[] = [];

  const populate = async () => {
    residents = await Promise.all(Array.from({ length: residentsAtOnce }, () => newResident(perch)));
    for (const { keys } of residents) for (const key of Object.values(keys)) if (key) tokens.add(key);
  };

  const send = async (wish: Wish) => {
    const [me, other] = [residents[wish.place % residents.length], residents[(wish.place + 1) % residents.length]];
    if (!me || !other) throw new Error("nobody is there");
    const request = write(wish, me, other);
    tally.sent++;
    try {
      const answer = await client.send({ ...request, alone: wish.trick !== undefined });
      tally.note(wish, answer);
      for (const problem of judge({ wish, me, request, answer }, owners, tokens))
        tally.complain(wish, request, answer, problem);
    } catch (error) {
      tally.complain(wish, request, undefined, String(error));
    }
  };

  let generations = 0;
  const batches = fc.asyncProperty(fc.array(anyWish, { minLength: batchSize, maxLength: batchSize }), async (batch) => {
    if (tally.sent >= generations * requestsPerGeneration) {
      generations++;
      await populate();
    }
    const waiting = batch.values();
    const ask = async () => {
      for (const wish of waiting) await send(wish);
    };
    await Promise.all(Array.from({ length: atOnce }, ask));
  });
  await fc.assert(batches, { seed, numRuns: Math.ceil(requests / batchSize), endOnFailure: true });
  client.close();
  return tally;
}
