import { isMainThread } from "node:worker_threads";

/**
 * Loaded into the server that `perch dev` starts: when `perch dev` is gone, however it went, the pipe to it closes, and the server
 * comes down as after SIGTERM. Threads of the server load it too, and have an end of input of their own.
 */
if (isMainThread) {
  process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
  process.stdin.resume();
  // The pipe alone must not keep a process that has done its work.
  if ("unref" in process.stdin && typeof process.stdin.unref === "function") process.stdin.unref();
}
