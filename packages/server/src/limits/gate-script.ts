import { type Bucket, type GateDecision, hasEpoch } from "./gate.ts";
import { bucketState } from "./gcra.ts";

/**
 * Handles a batch of independent requests in one call: takes one token from every bucket of a request or from none, on Valkey's
 * own clock, and returns the epoch. The fixed and sliding windows that libraries offer cannot allow a burst above the rate.
 *
 * KEYS: for each request its buckets, then its epoch ('' if the owner has none). ARGV: a new epoch for owners without one;
 * then for each request the number of its buckets and, for each bucket, interval (µs), capacity and 1 to take or 0 to peek.
 * The reply: the time (µs); then for each request the bucket that refused (0: none), the wait (µs), the epoch, and for each
 * bucket when it is full (µs).
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

export type ScriptReply = (number | string)[];

export interface GateRequest {
  readonly owner: string;
  readonly buckets: readonly Bucket[];
}

export function toArguments(
  requests: readonly GateRequest[],
  newEpoch: string,
): { keys: string[]; args: (string | number)[] } {
  const keys: string[] = [];
  const args: (string | number)[] = [newEpoch];
  for (const { owner, buckets } of requests) {
    args.push(buckets.length);
    for (const { key, rate, peekOnly } of buckets) {
      keys.push(`perch:${key}:${owner}`);
      args.push(rate.intervalMs * 1000, rate.capacity, peekOnly ? 0 : 1);
    }
    keys.push(hasEpoch(owner) ? `perch:epoch:${owner}` : "");
  }
  return { keys, args };
}

export function toDecisions([nowUs, ...values]: ScriptReply, requests: readonly GateRequest[]): GateDecision[] {
  const nowMs = Number(nowUs) / 1000;
  let offset = 0;
  return requests.map(({ buckets }) => {
    const refused = Number(values[offset]);
    const decision = {
      allowed: refused === 0,
      refusedBy: refused === 0 ? undefined : refused - 1,
      waitMs: Number(values[offset + 1]) / 1000,
      epoch: { value: String(values[offset + 2]), maxAgeMs },
      buckets: buckets.map(({ rate }, i) => bucketState(Number(values[offset + 3 + i]) / 1000, rate, nowMs)),
    };
    offset += 3 + buckets.length;
    return decision;
  });
}
