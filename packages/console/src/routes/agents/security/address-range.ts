/** An address as a number, with its number of bits. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function parseV6(text: string): bigint | undefined {
  const lastPart = text.slice(text.lastIndexOf(":") + 1);
  const v4 = parseV4(lastPart);
  const hex = (value: bigint) => value.toString(16);
  const whole = v4 === undefined ? text : `${text.slice(0, -lastPart.length)}${hex(v4 >> 16n)}:${hex(v4 & 65535n)}`;
  const [head = "", tail, ...more] = whole.split("::");
  if (more.length > 0) return undefined;
  const split = (side: string | undefined) => (side ? side.split(":") : []);
  const [before, after] = [split(head), split(tail)];
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

/** `::ffff:10.0.0.1` is `10.0.0.1`. */
function parseAddress(text: string): Address | undefined {
  const v4 = parseV4(text);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  const v6 = parseV6(text);
  if (v6 === undefined) return undefined;
  return v6 >> 32n === 0xffffn ? { bits: 32, value: v6 & 0xffffffffn } : { bits: 128, value: v6 };
}

/** Whether an address is in a range such as `10.0.0.0/8`. An invalid range contains none; the server reports what is wrong with it. */
export function isInRange(address: string, range: string): boolean {
  const [base = "", length] = range.split("/");
  const [one, other] = [parseAddress(address), parseAddress(base)];
  if (!one || !other || one.bits !== other.bits) return false;
  const bits = length === undefined ? one.bits : Number(length);
  if (!Number.isInteger(bits) || bits < 0 || bits > one.bits) return false;
  const shift = BigInt(one.bits - bits);
  return one.value >> shift === other.value >> shift;
}
