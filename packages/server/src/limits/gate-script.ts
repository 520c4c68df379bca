import { type Bucket, type GateDecision, hasEpoch, sharedForMs } from "./gate.ts";
import { bucketState } from "./gcra.ts";

/**
 * Handles a batch of independent requests in one call: takes one token from every bucket of a request or from none, on Valkey's
 * own clock, and returns the epoch. The fixed and sliding windows that libraries offer cannot allow a burst above the rate.
 *
 * KEYS: for each request two for each bucket, its own and that of the owners that share its rate ('' if none do), then its
 * epoch ('' if the owner has none). ARGV: a new epoch for owners without one; then for each request its owner, the number of
 * its buckets and, for each bucket, interval (µs), capacity, 1 to take or 0 to peek, and the longest interval of a part (µs).
 * The reply: the time (µs); then for each request the bucket that refused (0: none), the wait (µs), the epoch, and for each
 * bucket when it is full (µs).
 */
export const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answer = { now }
local key, arg, out, fresh = 1, 2, 1, 0
while arg <= #ARGV do
  local owner, count = ARGV[arg], tonumber(ARGV[arg + 1])
  local full, interval, refused, longest = {}, {}, 0, 0
  for i = 1, count do
    local bucket, at = KEYS[key + 2 * i - 2], arg + 4 * i - 2
    interval[i] = tonumber(ARGV[at])
    local window, owners = interval[i] * tonumber(ARGV[at + 1]), KEYS[key + 2 * i - 1]
    if owners ~= '' then
      redis.call('ZADD', owners, now, owner)
      redis.call('ZREMRANGEBYSCORE', owners, '-inf', now - ${sharedForMs * 1000})
      redis.call('PEXPIRE', owners, ${sharedForMs})
      interval[i] = math.min(interval[i] * redis.call('ZCARD', owners), tonumber(ARGV[at + 3]))
    end
    full[i] = math.max(tonumber(redis.call('GET', bucket) or now), now)
    local wait = full[i] + interval[i] - window - now
    if wait > longest then refused, longest = i, wait end
  end
  if refused == 0 then
    for i = 1, count do
      if ARGV[arg + 4 * i] == '1' then
        full[i] = full[i] + interval[i]
        redis.call('SET', KEYS[key + 2 * i - 2], string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000) + 1000)
      end
    end
  end
  local epochKey = KEYS[key + 2 * count]
  local epoch = epochKey == '' and '' or redis.call('GET', epochKey)
  if not epoch then
    fresh = fresh + 1
    epoch = ARGV[1] .. '.' .. fresh
    redis.call('SET', epochKey, epoch, 'EX', 86400)
  end
  answer[out + 1], answer[out + 2], answer[out + 3] = refused, math.ceil(longest), epoch
  for i = 1, count do answer[out + 3 + i] = math.floor(full[i]) end
  key, arg, out = key + 2 * count + 1, arg + 2 + 4 * count, out + 3 + count
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
    args.push(owner, buckets.length);
    for (const { key, rate, peekOnly, maxPartIntervalMs } of buckets) {
      keys.push(`perch:${key}:${owner}`, maxPartIntervalMs === undefined ? "" : `perch:${key}`);
      args.push(rate.intervalMs * 1000, rate.capacity, peekOnly ? 0 : 1, (maxPartIntervalMs ?? 0) * 1000);
    }
    keys.push(hasEpoch(owner) ? `perch:epoch:${owner}` : "");
  }
  return { keys, args };
}

/** With another `epochPrefix`, an epoch of the same value is another one. */
export function toDecisions(
  [nowUs, ...values]: ScriptReply,
  requests: readonly GateRequest[],
  epochPrefix: string,
): GateDecision[] {
  const nowMs = Number(nowUs) / 1000;
  let offset = 0;
  return requests.map(({ buckets }) => {
    const refused = Number(values[offset]);
    const epoch = String(values[offset + 2]);
    const decision = {
      allowed: refused === 0,
      refusedBy: refused === 0 ? undefined : refused - 1,
      waitMs: Number(values[offset + 1]) / 1000,
      nowMs,
      epoch: { value: epoch && epochPrefix + epoch, maxAgeMs },
      buckets: buckets.map(({ rate }, i) => bucketState(Number(values[offset + 3 + i]) / 1000, rate, nowMs)),
    };
    offset += 3 + buckets.length;
    return decision;
  });
}
