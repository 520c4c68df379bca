import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createResponseReader, openHttpConnection } from "./http-connection.ts";

const withLength = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const inChunks =
  "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nb\r\n\r\n0\r\n\r\nmore\r\n0\r\n\r\n";
const withoutBody = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";

/** The statuses that a reader reports, with the number of bytes after which it reported each. */
function readInPieces(bytes: Buffer, size: number): { status: number; at: number }[] {
  const ended: { status: number; at: number }[] = [];
  let at = 0;
  const read = createResponseReader((status) => ended.push({ status, at }));
  for (let start = 0; start < bytes.length; start += size) {
    at = Math.min(start + size, bytes.length);
    read(bytes.subarray(start, at));
  }
  return ended;
}

test("a response ends with its last byte, however the bytes are split", () => {
  const parts = [withLength, inChunks, withoutBody, withLength].map((text) => Buffer.from(text));
  const bytes = Buffer.concat(parts);
  let end = 0;
  const ends = parts.map((part) => {
    end += part.length;
    return end;
  });
  const statuses = [200, 201, 429, 200];
  expect(readInPieces(bytes, 1)).toEqual(statuses.map((status, i) => ({ status, at: ends[i] })));
  for (let size = 2; size <= bytes.length; size++)
    expect(readInPieces(bytes, size).map(({ status }) => status)).toEqual(statuses);
});

test("a connection serves requests one after another, and rejects them once the server has closed it", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/close") response.destroy();
    else response.writeHead(request.url === "/refuse" ? 503 : 200).end("done");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const connection = await openHttpConnection(url);
  const get = (path: string) => connection.send(`GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`);
  expect([await get("/"), await get("/refuse"), await get("/")]).toEqual([200, 503, 200]);
  await expect(get("/close")).rejects.toThrow();
  await expect(get("/")).rejects.toThrow("closed the connection");
  connection.close();
  server.close();
});
