/**
 * A run has two keys: the stream of its events, and a hash that describes the owner of its text:
 *   writer, at, take   the owner's name, when it began, and how often it has taken the stream
 *   step, from         the step it writes, and the last event before that step
 *   bytes              about how much the stream holds
 * Both live as long as each other. If one was lost alone (evicted, or a failover), the other must not be trusted.
 */
const prelude = `
local stream, owner, ttl = KEYS[1], KEYS[2], ARGV[1]
local bytes = tonumber(redis.call('HGET', owner, 'bytes') or '0')
if bytes > 0 and redis.call('EXISTS', stream) == 0 then
  redis.call('DEL', owner)
  bytes = 0
end
local function keep()
  redis.call('PEXPIRE', stream, ttl)
  redis.call('PEXPIRE', owner, ttl)
end
local function add(payload)
  redis.call('XADD', stream, '*', 'e', payload)
  redis.call('HINCRBY', owner, 'bytes', #payload + 32)
  keep()
  redis.call('PUBLISH', stream, '')
end`;

/**
 * ARGV: ttl, writer, at, take, step. Returns the events since the step began, or nothing if it may not own the stream. A first take
 * always may, unless the step is past. A later take may not replace an attempt that began after its own.
 */
export const takeScript = `${prelude}
local writer, take, step = ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local now = redis.call('HMGET', owner, 'writer', 'at', 'take', 'step', 'from')
local nowStep = tonumber(now[4] or '-1')
if nowStep > step then return false end
if now[1] == writer then
  if tonumber(now[3]) >= take then return false end
elseif now[1] and take > 1 and nowStep == step and tonumber(now[2]) >= tonumber(ARGV[3]) then
  return false
end
local from = now[5] or '0-0'
if now[4] and nowStep < step then
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)
  from = last[1] and last[1][1] or '0-0'
end
redis.call('HSET', owner, 'writer', writer, 'at', ARGV[3], 'take', ARGV[4], 'step', ARGV[5], 'from', from)
keep()
return redis.call('XRANGE', stream, '(' .. from, '+')`;

/** ARGV: ttl, writer, take, most bytes, payload. */
export const putScript = `${prelude}
local now = redis.call('HMGET', owner, 'writer', 'take')
if not now[1] then return 'lost' end
if now[1] ~= ARGV[2] or now[2] ~= ARGV[3] then return 'taken' end
if bytes + #ARGV[5] > tonumber(ARGV[4]) then return 'full' end
add(ARGV[5])
return 'put'`;

/** ARGV: ttl, most bytes, payload, a smaller payload for a stream that is full. */
export const appendScript = `${prelude}
add(bytes + #ARGV[3] > tonumber(ARGV[2]) and ARGV[4] or ARGV[3])`;
