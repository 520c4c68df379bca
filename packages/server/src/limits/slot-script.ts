/** Takes a slot, or releases it: then the lease is 0, and neither the ceilings nor the deadline matter. */
export interface SlotChange {
  /** The organisation's runs and the agent's; then the session's, or an empty name. */
  readonly keys: readonly [string, string, string];
  readonly id: string;
  readonly leaseSeconds: number;
  readonly organisationRuns: number;
  readonly agentRuns: number;
  /** On Valkey's clock: a take that is executed later takes nothing. 0: none. */
  readonly deadlineMs: number;
}

export interface SlotReply {
  /** 0: done. 1 or 2: the organisation or the agent has no slot left. */
  readonly full: number;
  /** On Valkey's clock. */
  readonly atMs: number;
}

/** A take that was executed after its deadline. */
export const tooLate = 3;
/** The run has no slot that could be renewed: it may have ended in the meantime. */
const notHeld = 4;
/** In place of the ceilings: renews the slot that the run holds. */
export const renewal = { organisationRuns: -1, agentRuns: -1 } as const;

/**
 * Handles a batch of changes in one call, in their order. A take gets a slot of the organisation and one of the agent, or neither.
 * A slot is a member whose score is the end of its lease, on Valkey's own clock. Expired ones are removed when they stand in the
 * way, not on every take. A key outlives all its leases: a short one after a long one must not shorten its time to live.
 * Turns of a session run one after another, so a turn's lease has as much again for each turn ahead of it. Turns of one agent mostly
 * have one time limit; a turn that waited for longer renews its lease.
 *
 * KEYS: three for each change. ARGV: id, lease (s), both ceilings, deadline (ms). The reply: the time (ms), then for each change 0,
 * which key is full, 3 if it came too late, or 4 if there is nothing to renew.
 */
export const script = `
local time = redis.call('TIME')
local now, nowMs = tonumber(time[1]), time[1] * 1000 + math.floor(time[2] / 1000)
local answer = { nowMs }
for n = 1, #KEYS / 3 do
  local key, arg, full = 3 * n - 3, 5 * n - 4, 0
  local id, lease, session = ARGV[arg], tonumber(ARGV[arg + 1]), KEYS[3 * n]
  local deadline = tonumber(ARGV[arg + 4])
  if lease > 0 and deadline > 0 and nowMs > deadline then full = ${tooLate} end
  if lease > 0 and tonumber(ARGV[arg + 3]) < 0 and not redis.call('ZSCORE', KEYS[key + 2], id) then full = ${notHeld} end
  for i = 1, 2 do
    local ceiling = tonumber(ARGV[arg + 1 + i])
    if lease == 0 then
      redis.call('ZREM', KEYS[key + i], id)
    elseif full == 0 and ceiling >= 0 and redis.call('ZCARD', KEYS[key + i]) >= ceiling then
      redis.call('ZREMRANGEBYSCORE', KEYS[key + i], '-inf', now)
      if redis.call('ZCARD', KEYS[key + i]) >= ceiling and not redis.call('ZSCORE', KEYS[key + i], id) then full = i end
    end
  end
  if session ~= '' and lease == 0 then redis.call('ZREM', session, id) end
  if lease > 0 and full == 0 then
    local untilTime = now + lease
    if session ~= '' then
      redis.call('ZREMRANGEBYSCORE', session, '-inf', now)
      local own = redis.call('ZSCORE', session, id)
      if own then
        untilTime = math.max(untilTime, tonumber(own))
      else
        untilTime = untilTime + redis.call('ZCARD', session) * lease
      end
    end
    for i = 1, session == '' and 2 or 3 do
      redis.call('ZADD', KEYS[key + i], untilTime, id)
      local left = untilTime - now
      if redis.call('TTL', KEYS[key + i]) < left + 60 then redis.call('EXPIRE', KEYS[key + i], left + 120) end
    end
  end
  answer[n + 1] = full
end
return answer`;

export function toArguments(changes: readonly SlotChange[]): { keys: string[]; args: (string | number)[] } {
  const keys: string[] = [];
  const args: (string | number)[] = [];
  for (const change of changes) {
    keys.push(...change.keys);
    args.push(change.id, change.leaseSeconds, change.organisationRuns, change.agentRuns, change.deadlineMs);
  }
  return { keys, args };
}

export const toReplies = ([atMs = 0, ...results]: readonly number[]): SlotReply[] =>
  results.map((full) => ({ full, atMs }));
