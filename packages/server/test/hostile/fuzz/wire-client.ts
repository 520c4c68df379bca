import { connect, type Socket } from "node:net";

export interface WireResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The body did not end within its time limit. */
  readonly truncated: boolean;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bodyAt: number;
}

/** Parses the status line and headers, and skips a `100 Continue` before them. */
function parseHead(bytes: Buffer, from = 0): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n", from);
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.subarray(from, end).toString("latin1").split("\r\n");
  const status = Number(first.match(/^HTTP\/1\.1 (\d{3})( |$)/)?.[1]);
  if (status >= 100 && status < 200) return parseHead(bytes, end + 4);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status, headers, bodyAt: end + 4 };
}

/** The chunks received so far, and whether the last one has arrived. */
function decodeChunks(bytes: Buffer): { readonly body: Buffer; readonly complete: boolean } {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return { body: Buffer.concat(parts), complete: false };
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    if (size === 0) return { body: Buffer.concat(parts), complete: true };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (at > bytes.length) return { body: Buffer.concat(parts), complete: false };
  }
}

function parseResponse(
  bytes: Buffer,
  { isHead, closed }: { isHead: boolean; closed: boolean },
): WireResponse | undefined {
  const head = parseHead(bytes);
  if (!head) return undefined;
  const { status, headers, bodyAt } = head;
  const rest = bytes.subarray(bodyAt);
  if (isHead) return { status, headers, body: "", truncated: false };
  if (headers.get("transfer-encoding") === "chunked") {
    const { body, complete } = decodeChunks(rest);
    return complete || closed ? { status, headers, body: body.toString(), truncated: !complete } : undefined;
  }
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (Number.isNaN(length) ? !closed : rest.length < length && !closed) return undefined;
  const body = Number.isNaN(length) ? rest : rest.subarray(0, length);
  return { status, headers, body: body.toString(), truncated: rest.length < length };
}

interface WireRequest {
  readonly bytes: Buffer;
  readonly isHead: boolean;
  /** Uses a new connection, which is closed afterwards. */
  readonly ownConnection: boolean;
}

const timeoutMs = 20_000;
/** How long to read an event stream, which may never end. */
const streamMs = 150;

/** Sends HTTP/1.1 as raw bytes, because a real client refuses to send malformed requests. Returns undefined if the server closes the connection without a response. */
export class WireClient {
  readonly #port: number;
  readonly #host: string;
  readonly #idle: Socket[] = [];

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  async send(request: WireRequest): Promise<WireResponse | undefined> {
    const kept = request.ownConnection ? undefined : this.#idle.pop();
    const socket = kept ?? connect({ port: this.#port, host: this.#host, noDelay: true });
    const answer = await this.#exchange(socket, request);
    // The server may have just closed an idle connection: retry on another one.
    if (answer === undefined && kept) return this.send(request);
    return answer;
  }

  close(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #exchange(socket: Socket, { bytes, isHead, ownConnection }: WireRequest): Promise<WireResponse | undefined> {
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const finish = (answer: WireResponse | undefined) => {
        clearTimeout(timer);
        clearTimeout(streamTimer);
        socket.removeAllListeners();
        socket.on("error", () => undefined);
        const keeps =
          answer && !answer.truncated && !ownConnection && answer.headers.get("connection") === "keep-alive";
        if (keeps && !socket.destroyed) {
          socket.on("close", () => void this.#idle.splice(this.#idle.indexOf(socket) >>> 0, 1));
          this.#idle.push(socket);
        } else socket.destroy();
        resolve(answer);
      };
      let streamTimer: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      socket.on("data", (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const answer = parseResponse(received, { isHead, closed: false });
        if (answer) finish(answer);
        else if (!streamTimer && parseHead(received)?.headers.get("content-type")?.startsWith("text/event-stream"))
          streamTimer = setTimeout(() => finish(parseResponse(received, { isHead, closed: true })), streamMs);
      });
      socket.on("error", () => finish(parseResponse(received, { isHead, closed: true })));
      socket.on("close", () => finish(parseResponse(received, { isHead, closed: true })));
      socket.write(bytes);
    });
  }
}
