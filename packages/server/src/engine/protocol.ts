/**
 * The engine's service protocol, as far as we read it beside the SDK: frames with a header of eight bytes, which are type, flags
 * and length, and protobuf in them.
 */
export const headerBytes = 8;
export const frameTypes = {
  start: 0x0000,
  end: 0x0003,
  input: 0x0400,
  output: 0x0401,
  sleep: 0x040c,
  run: 0x0411,
  sleepCompleted: 0x800c,
};
export const fields = {
  startKnownEntries: 3,
  startRetries: 7,
  inputValue: 14,
  runName: 12,
  outputValue: 14,
  valueContent: 1,
};

/** The value of a protobuf field: a number, or the bytes of a string or message. Undefined if it is missing. */
export function fieldOf(message: Buffer, wanted: number): number | Buffer | undefined {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    const start = at;
    if (wireType === 0) {
      const value = readVarint();
      if (field === wanted) return value;
    } else if (wireType === 2) {
      const length = readVarint();
      at += length;
      if (at > message.length) throw new Error("The engine sent a field that is longer than its message");
      if (field === wanted) return message.subarray(at - length, at);
    } else if (wireType === 1 || wireType === 5) at = start + (wireType === 1 ? 8 : 4);
    else throw new Error(`The engine sent a field of the unknown wire type ${wireType}`);
  }
  return undefined;
}

export const bytesOf = (message: Buffer, field: number): Buffer => {
  const value = fieldOf(message, field);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
};

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];

/** The frames with which an invocation ends: its output and the end. */
export function outputAndEnd(output: unknown): Buffer {
  const json = JSON.stringify(output);
  const length = Buffer.byteLength(json);
  const ofBytes = (field: number): number => field * 8 + 2;
  const content = [ofBytes(fields.valueContent), ...varint(length)];
  const value = [ofBytes(fields.outputValue), ...varint(content.length + length)];
  const head = value.length + content.length;
  const end = headerBytes + head + length;
  const bytes = Buffer.alloc(end + headerBytes);
  bytes.writeUInt16BE(frameTypes.output, 0);
  bytes.writeUInt32BE(head + length, 4);
  bytes.set([...value, ...content], headerBytes);
  bytes.write(json, headerBytes + head, "utf8");
  bytes.writeUInt16BE(frameTypes.end, end);
  return bytes;
}
