import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface OtherSite {
  /** Another site for the browser: another host. */
  readonly crossSite: string;
  /** The same site on another port, which gets the host's cookies and may set them. */
  readonly samePlace: string;
  /** Sets this cookie of the host at the next visit of `/fixate`. */
  readonly fixate: (cookie: string) => void;
  readonly close: () => void;
}

/** A website that the victim visits while signed in to the console. Its pages have no scripts: tests evaluate theirs there. */
export async function startOtherSite(): Promise<OtherSite> {
  let cookie: string | undefined;
  const server = createServer((request, response) => {
    if (request.url === "/fixate" && cookie) response.setHeader("set-cookie", cookie);
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Other site</title><h1>Other site</h1>");
  });
  // On all addresses of loopback: a browser may take `localhost` for ::1.
  server.listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    crossSite: `http://localhost:${port}`,
    samePlace: `http://127.0.0.1:${port}`,
    fixate: (value) => {
      cookie = value;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
