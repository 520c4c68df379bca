import { once } from "node:events";

type Call = (method: string, params?: object) => Promise<unknown>;

/** Talks to a process that was started with `--inspect` at this port. */
async function inspect<T>(inspectorPort: number, work: (call: Call) => Promise<T>): Promise<T> {
  const targets = (await (await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  let id = 0;
  const call: Call = async (method, params = {}) => {
    const own = ++id;
    socket.send(JSON.stringify({ id: own, method, params }));
    for (;;) {
      const [{ data }] = (await once(socket, "message")) as [{ readonly data: string }];
      const answer = JSON.parse(data) as { id?: number; result?: unknown; error?: { readonly message: string } };
      if (answer.id !== own) continue;
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    }
  };
  try {
    return await work(call);
  } finally {
    socket.close();
  }
}

/** Lets a process collect its garbage, and returns the bytes that its heap uses then. */
export const collectGarbage = (inspectorPort: number): Promise<number> =>
  inspect(inspectorPort, async (call) => {
    // What the first leaves to finalizers, the second collects.
    for (let i = 0; i < 2; i++) await call("HeapProfiler.collectGarbage");
    return ((await call("Runtime.getHeapUsage")) as { usedSize: number }).usedSize;
  });

interface RemoteObject {
  readonly objectId: string;
  readonly value: unknown;
}

/** How many timers of a process are set, those included that do not keep it alive, which `getActiveResourcesInfo` leaves out. */
export const countTimers = (inspectorPort: number): Promise<number> =>
  inspect(inspectorPort, async (call) => {
    const expression = "{ const timer = setTimeout(() => {}, 0); clearTimeout(timer); Object.getPrototypeOf(timer) }";
    const objectGroup = "timers";
    const { result } = (await call("Runtime.evaluate", { expression, objectGroup })) as { result: RemoteObject };
    const found = (await call("Runtime.queryObjects", { prototypeObjectId: result.objectId, objectGroup })) as {
      objects: RemoteObject;
    };
    const counted = (await call("Runtime.callFunctionOn", {
      objectId: found.objects.objectId,
      functionDeclaration: "function () { return this.filter((timer) => !timer._destroyed).length }",
      returnByValue: true,
    })) as { result: RemoteObject };
    await call("Runtime.releaseObjectGroup", { objectGroup });
    if (typeof counted.result.value !== "number") throw new Error("The timers of a process cannot be counted");
    return counted.result.value;
  });
