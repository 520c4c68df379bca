/** Takes a slot, or releases it: then the lease is 0 and the ceilings do not matter. */
export interface SlotChange {
  /** The organisation's runs and the agent's; then the session's, or an empty name. */
  readonly keys: readonly [string, string, string];
  readonly id: string;
  readonly leaseSeconds: number;
  /** Of any run: added for each turn of the session that comes first. */
  readonly maxLeaseSeconds: number;
  readonly organisationRuns: number;
  readonly agentRuns: number;
}

/**
 * Handles a batch of changes in one call, in their order. A take gets a slot of the organisation and one of the agent, or neither.
 * A slot is a member whose score is the end of its lease, on Valkey's own clock. Expired ones are removed when they stand in the
 * way, not on every take. A key outlives all its leases: a short one after a long one must not shorten its time to live.
 * Turns of a session run one after another, so a turn's lease grows with those ahead: its slot must not expire while it waits.
 *
 * KEYS: three for each change. ARGV: id, lease (s), both ceilings, longest lease (s). The reply: for each 0, or which key is full.
 */
export const script = `
local now = tonumber(redis.call('TIME')[1])
local answer = {}
for n = 1, #KEYS / 3 do
  local key, arg, full = 3 * n - 3, 5 * n - 4, 0
  local id, lease, session = ARGV[arg], tonumber(ARGV[arg + 1]), KEYS[3 * n]
  for i = 1, 2 do
    local ceiling = tonumber(ARGV[arg + 1 + i])
    if lease == 0 then
      redis.call('ZREM', KEYS[key + i], id)
    elseif full == 0 and redis.call('ZCARD', KEYS[key + i]) >= ceiling then
      redis.call('ZREMRANGEBYSCORE', KEYS[key + i], '-inf', now)
      if redis.call('ZCARD', KEYS[key + i]) >= ceiling and not redis.call('ZSCORE', KEYS[key + i], id) then full = i end
    end
  end
  if session ~= '' and lease == 0 then redis.call('ZREM', session, id) end
  if lease > 0 and full == 0 then
    if session ~= '' then
      redis.call('ZREMRANGEBYSCORE', session, '-inf', now)
      local turns = redis.call('ZCARD', session)
      local ahead = redis.call('ZSCORE', session, id) and turns - 1 or turns
      lease = lease + ahead * tonumber(ARGV[arg + 4])
    end
    for i = 1, session == '' and 2 or 3 do
      redis.call('ZADD', KEYS[key + i], now + lease, id)
      if redis.call('TTL', KEYS[key + i]) < lease + 60 then redis.call('EXPIRE', KEYS[key + i], lease + 120) end
    end
  end
  answer[n] = full
end
return answer`;

export function toArguments(changes: readonly SlotChange[]): { keys: string[]; args: (string | number)[] } {
  const keys: string[] = [];
  const args: (string | number)[] = [];
  for (const change of changes) {
    keys.push(...change.keys);
    args.push(change.id, change.leaseSeconds, change.organisationRuns, change.agentRuns, change.maxLeaseSeconds);
  }
  return { keys, args };
}
