import { once } from "node:events";

/** Lets a process that was started with `--inspect` at this port collect its garbage, and returns the bytes that its heap uses then. */
export async function collectGarbage(inspectorPort: number): Promise<number> {
  const targets = (await (await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  const call = async (id: number, method: string): Promise<unknown> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(socket, "message")) as [{ readonly data: string }];
      const answer = JSON.parse(data) as { id?: number; result: unknown };
      if (answer.id === id) return answer.result;
    }
  };
  try {
    // What the first leaves to finalizers, the second collects.
    for (const id of [1, 2]) await call(id, "HeapProfiler.collectGarbage");
    return ((await call(3, "Runtime.getHeapUsage")) as { usedSize: number }).usedSize;
  } finally {
    socket.close();
  }
}
