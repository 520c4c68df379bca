import { once } from "node:events";
import { connect } from "node:http2";

const healthLimitMs = 2000;

/** Whether a worker of the release that the address names answers there, over HTTP/2 as the engine asks. */
export async function isServed(uri: string): Promise<boolean> {
  const { origin, pathname } = new URL(uri);
  const session = connect(origin);
  // Each such failure is also an error of the request.
  session.on("error", () => undefined);
  try {
    const request = session.request({ ":path": `${pathname.replace(/\/$/, "")}/health` });
    // Also of one that is given up before it is connected.
    request.on("error", () => undefined);
    const signal = AbortSignal.timeout(healthLimitMs);
    const [headers] = (await once(request, "response", { signal })) as [{ readonly ":status"?: number }];
    return headers[":status"] === 200;
  } catch {
    return false;
  } finally {
    session.destroy();
  }
}
