import { connect, type Socket } from "node:net";

export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The body had no end within the time given to it. */
  readonly cut: boolean;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bodyAt: number;
}

/** The head of the answer; a `100 Continue` before it is passed over. */
function headOf(bytes: Buffer, from = 0): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n", from);
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.subarray(from, end).toString("latin1").split("\r\n");
  const status = Number(first.match(/^HTTP\/1\.1 (\d{3})( |$)/)?.[1]);
  if (status >= 100 && status < 200) return headOf(bytes, end + 4);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status, headers, bodyAt: end + 4 };
}

/** The chunks that have come so far, and whether the last one has. */
function dechunked(bytes: Buffer): { readonly body: Buffer; readonly whole: boolean } {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return { body: Buffer.concat(parts), whole: false };
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    if (size === 0) return { body: Buffer.concat(parts), whole: true };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (at > bytes.length) return { body: Buffer.concat(parts), whole: false };
  }
}

function answerIn(bytes: Buffer, { isHead, closed }: { isHead: boolean; closed: boolean }): WireAnswer | undefined {
  const head = headOf(bytes);
  if (!head) return undefined;
  const { status, headers, bodyAt } = head;
  const rest = bytes.subarray(bodyAt);
  if (isHead) return { status, headers, body: "", cut: false };
  if (headers.get("transfer-encoding") === "chunked") {
    const { body, whole } = dechunked(rest);
    return whole || closed ? { status, headers, body: body.toString(), cut: !whole } : undefined;
  }
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (Number.isNaN(length) ? !closed : rest.length < length && !closed) return undefined;
  const body = Number.isNaN(length) ? rest : rest.subarray(0, length);
  return { status, headers, body: body.toString(), cut: rest.length < length };
}

interface Sending {
  readonly bytes: Buffer;
  readonly isHead: boolean;
  /** Takes a connection of its own, and says nothing more after this. */
  readonly alone: boolean;
}

const silenceMs = 20_000;
/** An event stream may have no end: this much of it is enough. */
const streamMs = 150;

/** HTTP/1.1 as bytes, since any real client would refuse to send half of what this must send. Undefined: hung up without a word. */
export class WireClient {
  readonly #port: number;
  readonly #host: string;
  readonly #idle: Socket[] = [];

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  async send(sending: Sending): Promise<WireAnswer | undefined> {
    const kept = sending.alone ? undefined : this.#idle.pop();
    const socket = kept ?? connect({ port: this.#port, host: this.#host, noDelay: true });
    const answer = await this.#exchange(socket, sending);
    // A kept connection may have been closed just now, which says nothing about the request.
    if (answer === undefined && kept) return this.send(sending);
    return answer;
  }

  close(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #exchange(socket: Socket, { bytes, isHead, alone }: Sending): Promise<WireAnswer | undefined> {
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const finish = (answer: WireAnswer | undefined) => {
        clearTimeout(timer);
        clearTimeout(streamTimer);
        socket.removeAllListeners();
        socket.on("error", () => undefined);
        const keeps = answer && !answer.cut && !alone && answer.headers.get("connection") === "keep-alive";
        if (keeps && !socket.destroyed) {
          socket.on("close", () => void this.#idle.splice(this.#idle.indexOf(socket) >>> 0, 1));
          this.#idle.push(socket);
        } else socket.destroy();
        resolve(answer);
      };
      let streamTimer: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no answer within ${silenceMs} ms`));
      }, silenceMs);
      socket.on("data", (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const answer = answerIn(received, { isHead, closed: false });
        if (answer) finish(answer);
        else if (!streamTimer && headOf(received)?.headers.get("content-type")?.startsWith("text/event-stream"))
          streamTimer = setTimeout(() => finish(answerIn(received, { isHead, closed: true })), streamMs);
      });
      socket.on("error", () => finish(answerIn(received, { isHead, closed: true })));
      socket.on("close", () => finish(answerIn(received, { isHead, closed: true })));
      socket.write(bytes);
    });
  }
}
