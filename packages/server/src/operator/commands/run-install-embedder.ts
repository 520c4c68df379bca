import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { localEmbedder } from "@perch/contract";
import { WeightsError } from "../../outbound/models/download-weights.ts";
import { hasRuntime, runtimeCommand } from "../../outbound/models/embedder-runtime.ts";
import { installWeights } from "../../outbound/models/embedder-weights.ts";
import { commandTable } from "./command-table.ts";

/** Progress and notes go to standard error; standard output has only the folder, for scripts. */
export async function runInstallEmbedder(folder: string, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["install-embedder"].options });
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  try {
    const outcome = await installWeights(folder, {
      from: values.from === undefined ? undefined : resolve(values.from),
      signal: interruption.signal,
      onProgress: (line) => console.error(`… ${line}`),
    });
    const already = values.from === undefined ? " already" : " already, so --from was not used";
    console.error(`${localEmbedder} is installed${outcome === "present" ? already : ""}:`);
    console.log(folder);
    if (!hasRuntime())
      console.error(`It needs the package onnxruntime-node too. To install it:\n  ${runtimeCommand()}`);
  } catch (error) {
    if (!interruption.signal.aborted && !(error instanceof WeightsError)) throw error;
    console.error(interruption.signal.aborted ? "Interrupted. Nothing was installed." : (error as Error).message);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
