import { startChild } from "./child-process.ts";
import type { Contender } from "./comparison.ts";
import { enginePids, type Installation } from "./installation.ts";
import { checkAnswers, type PostTarget } from "./load.ts";
import type { Stops } from "./stops.ts";

const handlers = {
  run: '"response":"hello"',
  /** Takes 200 ms. */
  runSlowly: '"response":"done"',
} as const;

export type BareService = (handler: keyof typeof handlers, name?: string) => Promise<Contender>;

/**
 * Starts a service that uses only the engine's SDK. Its clients send an idempotency key with each call, as ours do with
 * the run's id.
 */
export async function startBareService(
  stops: Stops,
  { engine, observer }: Pick<Installation, "engine" | "observer">,
): Promise<BareService> {
  const worker = await startChild("bare-engine.ts", observer.env);
  stops.add(worker.stop);
  const response = await fetch(`${engine.adminUrls[0]}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${worker.line}` }),
  });
  if (!response.ok) throw new Error(`The bare service does not register: ${await response.text()}`);
  return async (handler, name = "bare engine") => {
    const target: PostTarget = {
      url: `${engine.ingressUrls[0]}/restate/call/Bare/${handler}`,
      headers: [{}],
      body: JSON.stringify({ message: "hello" }),
      uniqueHeader: "idempotency-key",
    };
    await checkAnswers(target, handlers[handler]);
    const parts = { worker: worker.pids, engine: enginePids(engine) };
    return { name, target, parts, observe: () => observer.observe("use") };
  };
}
