import { createServer } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";

/**
 * A minimal durable service. Each handler has one journaled step: the first returns at once, the second takes 200 ms.
 * Prints its port.
 */
const bare = restate.service({
  name: "Bare",
  handlers: {
    run: (context: restate.Context, input: { message: string }) =>
      context.run("step", () => ({ response: input.message })),
    runSlowly: (context: restate.Context) =>
      context.run("step", async () => {
        await sleep(200);
        return { response: "done" };
      }),
  },
});
const server = createServer(restate.endpoint().bind(bare).http2Handler());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address ? address.port : 0);
});
process.once("SIGTERM", () => process.exit(0));
