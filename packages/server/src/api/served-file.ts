import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** How a file may be sent, the smallest first. */
export type Encoding = "br" | "gzip";

export interface ServedFile {
  readonly contentType: string;
  readonly cacheControl: string;
  readonly etag: string;
  readonly content: Buffer;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

/** Weak: its compressed forms have the same. */
export const etagOfFile = (content: Buffer): string =>
  `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;

/** A text that is compressed once, when it is first asked for, and never again. */
export function createServedText(contentType: string, cacheControl: string, text: () => string): () => ServedFile {
  let served: ServedFile | undefined;
  const create = (): ServedFile => {
    const content = Buffer.from(text());
    const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
    return {
      contentType,
      cacheControl,
      etag: etagOfFile(content),
      content,
      encoded: new Map([
        ["br", brotli],
        ["gzip", gzipSync(content)],
      ]),
    };
  };
  return () => (served ??= create());
}

const accepts = (header: string | undefined, encoding: Encoding): boolean =>
  (header ?? "").split(",").some((item) => {
    const [name, weight] = item.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !/^q=0(\.0*)?$/.test(weight ?? "");
  });

const isUnchanged = (header: string | undefined, etag: string): boolean =>
  (header ?? "").split(",").some((item) => item.trim() === etag);

export function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const [encoding, content] =
    [...file.encoded].find(([each]) => accepts(headers["accept-encoding"], each)) ??
    ([undefined, file.content] as const);
  const vary = [reply.getHeader("vary"), "Accept-Encoding"].filter(Boolean).join(", ");
  reply.header("cache-control", file.cacheControl).header("etag", file.etag).header("vary", vary);
  if (isUnchanged(headers["if-none-match"], file.etag)) return reply.code(304).send();
  if (encoding) reply.header("content-encoding", encoding);
  return reply.type(file.contentType).send(content);
}
