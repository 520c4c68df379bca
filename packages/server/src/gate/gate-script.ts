import { type Bucket, hasEpoch, type Passage } from "./gate.ts";
import { bucketState } from "./gcra.ts";

/**
 * Answers many questions in one call, each on its own: takes one request from every bucket of the question or from none,
 * on Valkey's own clock, and tells the epoch. Fixed and sliding windows, which libraries offer, cannot hold a burst above
 * the rate; this can.
 *
 * KEYS: for each question its buckets, then its epoch ('' where the owner has none). ARGV: a new epoch for those that have none; then for each question
 * the number of its buckets and, for each bucket, interval (µs), capacity and 1 to take or 0 to look.
 * The answer: the time (µs); then for each question the bucket that refused (0: none), the wait (µs), the epoch, and for
 * each bucket when it is full (µs).
 */
export const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answer = { now }
local key, arg, out, fresh = 1, 2, 1, 0
while arg <= #ARGV do
  local count = tonumber(ARGV[arg])
  local full, refused, longest = {}, 0, 0
  for i = 1, count do
    local interval, capacity = tonumber(ARGV[arg + 3 * i - 2]), tonumber(ARGV[arg + 3 * i - 1])
    full[i] = math.max(tonumber(redis.call('GET', KEYS[key + i - 1]) or now), now)
    local wait = full[i] + interval - capacity * interval - now
    if wait > longest then refused, longest = i, wait end
  end
  if refused == 0 then
    for i = 1, count do
      if ARGV[arg + 3 * i] == '1' then
        full[i] = full[i] + tonumber(ARGV[arg + 3 * i - 2])
        redis.call('SET', KEYS[key + i - 1], string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000) + 1000)
      end
    end
  end
  local epoch = KEYS[key + count] == '' and '' or redis.call('GET', KEYS[key + count])
  if not epoch then
    fresh = fresh + 1
    epoch = ARGV[1] .. '.' .. fresh
    redis.call('SET', KEYS[key + count], epoch, 'EX', 86400)
  end
  answer[out + 1], answer[out + 2], answer[out + 3] = refused, math.ceil(longest), epoch
  for i = 1, count do answer[out + 3 + i] = math.floor(full[i]) end
  key, arg, out = key + count + 1, arg + 1 + 3 * count, out + 3 + count
end
return answer`;

const maxAgeMs = 10_000;

export type Answer = (number | string)[];

export interface Question {
  readonly owner: string;
  readonly buckets: readonly Bucket[];
}

export function toArguments(
  questions: readonly Question[],
  newEpoch: string,
): { keys: string[]; rest: (string | number)[] } {
  const keys: string[] = [];
  const rest: (string | number)[] = [newEpoch];
  for (const { owner, buckets } of questions) {
    rest.push(buckets.length);
    for (const { key, rate, lookOnly } of buckets) {
      keys.push(`perch:${key}:${owner}`);
      rest.push(rate.intervalMs * 1000, rate.capacity, lookOnly ? 0 : 1);
    }
    keys.push(hasEpoch(owner) ? `perch:epoch:${owner}` : "");
  }
  return { keys, rest };
}

export function toPassages([nowUs, ...rest]: Answer, questions: readonly Question[]): Passage[] {
  const nowMs = Number(nowUs) / 1000;
  let at = 0;
  return questions.map(({ buckets }) => {
    const refused = Number(rest[at]);
    const passage = {
      allowed: refused === 0,
      refusedBy: refused === 0 ? undefined : refused - 1,
      waitMs: Number(rest[at + 1]) / 1000,
      epoch: { value: String(rest[at + 2]), maxAgeMs },
      buckets: buckets.map(({ rate }, i) => bucketState(Number(rest[at + 3 + i]) / 1000, rate, nowMs)),
    };
    at += 3 + buckets.length;
    return passage;
  });
}
