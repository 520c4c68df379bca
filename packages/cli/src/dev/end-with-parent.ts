import { isMainThread } from "node:worker_threads";

/**
 * Loaded into the server that `perch dev` starts: when `perch dev` ends, however it ends, the pipe to it closes, and the server
 * shuts down as after SIGTERM. Threads of the server load it too, and their standard input ends by itself.
 */
if (isMainThread) {
  process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
  process.stdin.resume();
  // The pipe must not by itself prevent a finished process from ending.
  if ("unref" in process.stdin && typeof process.stdin.unref === "function") process.stdin.unref();
}
