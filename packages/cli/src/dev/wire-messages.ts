/** The part of PostgreSQL's wire protocol that a proxy in front of one backend needs: message boundaries and the startup. */

const sslRequest = 80_877_103;
const gssRequest = 80_877_104;
const cancelRequest = 80_877_102;

export type StartupMessage =
  | { readonly kind: "encryption" }
  | { readonly kind: "cancel" }
  | { readonly kind: "startup"; readonly user: string };

/** The client does not speak the protocol, so its connection is closed. */
export class ProtocolError extends Error {}

// PostgreSQL's own limit for a startup message, and far more than the server sends in one message.
const maxStartupBytes = 10_000;
export const maxMessageBytes = 64 * 1024 * 1024;

/** The length that a message states, itself included. A negative one would be read for ever. */
function readLength(buffer: Buffer, at: number, min: number, max: number): number {
  const length = buffer.readInt32BE(at);
  if (length < min || length > max)
    throw new ProtocolError(`A message of ${length} bytes is refused: between ${min} and ${max} are allowed`);
  return length;
}

export interface Parsed<T> {
  readonly found: T;
  readonly rest: Buffer;
}

/** The first message of a connection, which has no type byte; undefined until it is complete. */
export function parseStartupMessage(buffer: Buffer): Parsed<StartupMessage> | undefined {
  if (buffer.length < 4) return undefined;
  const length = readLength(buffer, 0, 8, maxStartupBytes);
  if (buffer.length < length) return undefined;
  const code = buffer.readInt32BE(4);
  const rest = buffer.subarray(length);
  if (code === sslRequest || code === gssRequest) return { found: { kind: "encryption" }, rest };
  if (code === cancelRequest) return { found: { kind: "cancel" }, rest };
  const words = buffer.subarray(8, length).toString("utf8").split("\0");
  const index = words.findIndex((word, index) => index % 2 === 0 && word === "user");
  return { found: { kind: "startup", user: words[index + 1] ?? "" }, rest };
}

const groupEnds = new Set([..."QS"].map((letter) => letter.charCodeAt(0)));
export const terminate = "X".charCodeAt(0);

/**
 * Messages up to and including the one that makes the backend answer `ready`: a simple query, or a Sync. They belong
 * together, because no other client may come between the Parse of a client and its Execute.
 */
export function parseMessageGroup(buffer: Buffer): Parsed<readonly Buffer[]> | undefined {
  const messages: Buffer[] = [];
  for (let at = 0; at + 5 <= buffer.length; ) {
    const end = at + 1 + readLength(buffer, at + 1, 4, maxMessageBytes);
    if (end > buffer.length) return undefined;
    const type = buffer[at] ?? 0;
    messages.push(buffer.subarray(at, end));
    if (groupEnds.has(type) || type === terminate) return { found: messages, rest: buffer.subarray(end) };
    at = end;
  }
  return undefined;
}

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const setting = (name: string, value: string) => message("S", Buffer.from(`${name}\0${value}\0`));

/** The last message to a client that is refused. */
export const fatalError = (text: string): Buffer => message("E", Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`));

/** Accepts without a password, since the proxy is on loopback; then the settings that clients read. */
export const authenticationOk = Buffer.concat([
  message("R", Buffer.alloc(4)),
  setting("server_version", "18.0"),
  setting("server_encoding", "UTF8"),
  setting("client_encoding", "UTF8"),
  setting("DateStyle", "ISO, MDY"),
  setting("TimeZone", "UTC"),
  setting("integer_datetimes", "on"),
  setting("standard_conforming_strings", "on"),
  message("K", Buffer.alloc(8)),
  message("Z", Buffer.from("I")),
]);

/** Whether the backend is in no transaction after this answer: its last message is ReadyForQuery with `I`. */
export const isIdle = (answer: Uint8Array): boolean => answer.at(-6) === 0x5a && answer.at(-1) === 0x49;
