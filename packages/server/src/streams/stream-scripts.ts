import { streamTtlMs } from "./stream-limits.ts";

/**
 * A run has two keys: the stream of its events, and a hash that describes the owner of its text:
 *   writer, at, take   the owner's name, when it began, and how often it has taken the stream
 *   step, from         the step it writes, and the last event before that step
 *   bytes              about how much the stream holds
 *   until              the minute in which it expires, under which its organisation counts it
 *   dropped            whether its readers were told that events are missing
 * Both live as long as each other. If one was lost alone (evicted, or a failover), the other must not be trusted.
 *
 * All runs of an organisation share a third key: a hash of how many bytes expire in which minute. Without it nothing is counted.
 * Every script ends its ARGV with the most bytes of the organisation, and the event that tells readers about it.
 */
const prelude = `
local stream, owner, ttl = KEYS[1], KEYS[2], ARGV[1]
local organisation = KEYS[3] or ''
local time = redis.call('TIME')
local minute = math.floor(time[1] / 60)
local function isLate(deadline)
  local at = tonumber(deadline or '0')
  return at > 0 and time[1] * 1000 + math.floor(time[2] / 1000) > at
end
local bytes = tonumber(redis.call('HGET', owner, 'bytes') or '0')
if bytes > 0 and redis.call('EXISTS', stream) == 0 then
  redis.call('DEL', owner)
  bytes = 0
end
local function keep()
  redis.call('PEXPIRE', stream, ttl)
  redis.call('PEXPIRE', owner, ttl)
end
local function count(size)
  if organisation == '' then return end
  local before = redis.call('HGET', owner, 'until')
  local expires = string.format('%d', minute + math.ceil(ttl / 60000))
  if before ~= expires then
    if before then redis.call('HINCRBY', organisation, before, -bytes) end
    size = size + bytes
  end
  redis.call('HINCRBY', organisation, expires, size)
  redis.call('HSET', owner, 'until', expires)
  redis.call('PEXPIRE', organisation, ${streamTtlMs + 120_000})
end
local function fits(payload)
  if organisation == '' then return true end
  local held = redis.call('HGETALL', organisation)
  local size = #payload + 32
  for i = 1, #held, 2 do
    if tonumber(held[i]) < minute then
      redis.call('HDEL', organisation, held[i])
    else
      size = size + tonumber(held[i + 1])
    end
  end
  return size <= tonumber(ARGV[#ARGV - 1])
end
local function add(payload)
  local size = #payload + 32
  count(size)
  redis.call('XADD', stream, '*', 'e', payload)
  bytes = redis.call('HINCRBY', owner, 'bytes', size)
  keep()
  redis.call('PUBLISH', stream, '')
end
local function drop()
  if redis.call('HSETNX', owner, 'dropped', 1) == 1 then add(ARGV[#ARGV]) end
end`;

/**
 * ARGV: ttl, writer, at, take, step, deadline. Returns the events since the step began, or nothing if it may not own the stream. A
 * first take always may, unless the step or its deadline is past: then it was given up, and a newer attempt may write already. A later
 * take may not replace an attempt that began after its own.
 */
export const takeScript = `${prelude}
if isLate(ARGV[6]) then return false end
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
count(0)
keep()
return redis.call('XRANGE', stream, '(' .. from, '+')`;

/** ARGV: ttl, writer, take, most bytes, payload. */
export const putScript = `${prelude}
local now = redis.call('HMGET', owner, 'writer', 'take')
if not now[1] then return 'lost' end
if now[1] ~= ARGV[2] or now[2] ~= ARGV[3] then return 'taken' end
if bytes + #ARGV[5] > tonumber(ARGV[4]) then return 'full' end
if not fits(ARGV[5]) then
  drop()
  return 'dropped'
end
add(ARGV[5])
return 'put'`;

/**
 * ARGV: ttl, most bytes, payload, a smaller payload for a stream that is full, whether it must be kept, and the deadline. An event that
 * comes later was given up: its run's stream may have been erased meanwhile.
 */
export const appendScript = `${prelude}
if isLate(ARGV[6]) then return 'late' end
local payload = bytes + #ARGV[3] > tonumber(ARGV[2]) and ARGV[4] or ARGV[3]
if ARGV[5] == 'always' or fits(payload) then
  add(payload)
  return 'put'
end
drop()
return 'dropped'`;
