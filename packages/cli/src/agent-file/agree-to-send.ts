import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Session } from "../command.ts";
import { createRemembered } from "../remembered.ts";
import type { AgreeToSend } from "./declared-secrets.ts";

/**
 * For `perch dev`, which applies a file as soon as it is there: the first value of a variable goes to a new host only
 * once the user has seen both. Without a terminal, only values of `.env` go, which somebody put into this folder.
 */
export function createAgreeToSend({ terminal, env }: Pick<Session, "terminal" | "env">): AgreeToSend {
  const remembered = createRemembered(env);
  const refused = new Set<string>();
  return async ({ variable, hosts }, { source }, agentFile) => {
    const folder = realpathSync(dirname(agentFile));
    const isKnown = hosts.every((host) => remembered.has("send", folder, variable, host));
    if (isKnown) return true;
    if (!terminal.isInteractive) return source === ".env";
    const asked = JSON.stringify([folder, variable, hosts]);
    if (refused.has(asked)) return false;
    const question = `${agentFile} asks for ${variable} of ${source === "environment" ? "your environment" : source}. Its agent would send the value to ${hosts.join(", ")}. Allow it?`;
    if (!(await terminal.confirm(question, false))) {
      refused.add(asked);
      return false;
    }
    for (const host of hosts) remembered.add("send", folder, variable, host);
    return true;
  };
}
