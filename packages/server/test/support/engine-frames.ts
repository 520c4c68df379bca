/** Protobuf: one field that holds bytes, a number of at most 127, or a message. */
export const field = (number: number, value: Buffer | number): Buffer =>
  typeof value === "number"
    ? Buffer.from([number * 8, value])
    : Buffer.concat([Buffer.from([number * 8 + 2, ...varint(value.length)]), value]);

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]);

/** A frame of the engine's service protocol. */
export const frame = (type: number, ...fields: Buffer[]): Buffer => {
  const message = Buffer.concat(fields);
  const header = Buffer.alloc(8);
  header.writeUInt16BE(type, 0);
  header.writeUInt32BE(message.length, 4);
  return Buffer.concat([header, message]);
};

const text = (value: string): Buffer => Buffer.from(value);

export const start = (knownEntries: number, retries?: number): Buffer =>
  frame(
    0x0000,
    field(1, text("id")),
    field(2, text("inv_1")),
    field(3, knownEntries),
    field(6, text("key")),
    ...(retries === undefined ? [] : [field(7, retries)]),
  );
export const input = (message: object): Buffer => frame(0x0400, field(14, field(1, text(JSON.stringify(message)))));
export const step = (name: string): Buffer => frame(0x0411, field(11, 1), field(12, text(name)));
export const stepResult = frame(0x8011, field(1, 1), field(5, field(1, text('{"reply":{}}'))));
export const sleeping = frame(0x040c, field(1, 5), field(11, 2));
export const sleepCompleted = frame(0x800c, field(1, 2));
export const output = (value: object): Buffer => frame(0x0401, field(14, field(1, text(JSON.stringify(value)))));
export const end = frame(0x0003);

/** The frames in these bytes, by type. What follows the last whole one is left out. */
export function framesIn(bytes: Buffer): { readonly type: number; readonly message: Buffer }[] {
  if (bytes.length < 8) return [];
  const length = 8 + bytes.readUInt32BE(4);
  if (bytes.length < length) return [];
  const first = { type: bytes.readUInt16BE(0), message: bytes.subarray(8, length) };
  return [first, ...framesIn(bytes.subarray(length))];
}
