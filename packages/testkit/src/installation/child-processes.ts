import { readdirSync, readFileSync } from "node:fs";

export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]) === parent;
      } catch {
        return false;
      }
    });
}
