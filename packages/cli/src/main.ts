#!/usr/bin/env node
import "./require-node.ts";

// Static imports are parsed before any code runs, and an older Node cannot parse all of this.
const { runCli } = await import("./run.ts");

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    // A second ctrl-c ends without an orderly shutdown.
    if (stopped.signal.aborted) process.exit(1);
    stopped.abort(signal);
  });
// A reader that closes the pipe (`perch logs | head`) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: stopped.signal,
});
