import { existsSync, statSync } from "node:fs";
import { command, type Session } from "../command.ts";
import { findEngine } from "../dev/engine.ts";
import { findServer } from "../dev/server.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { profilesFile } from "../profiles.ts";
import { errorText } from "../report-error.ts";
import { version } from "../version.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** How to fix a failed check. */
  readonly fix: string | null;
}

const passed = (name: string, found: string): Check => ({ name, ok: true, found, fix: null });
const failed = (name: string, found: string, fix: string): Check => ({ name, ok: false, found, fix });

const nodeCheck = (): Check => {
  const major = Number(process.versions.node.split(".")[0]);
  return major >= 24
    ? passed("Node", process.version)
    : failed("Node", process.version, "Install Node 24 or newer: https://nodejs.org");
};

const engineCheck = (): Check => {
  const found = findEngine();
  return found
    ? passed("engine of perch dev", found)
    : failed(
        "engine of perch dev",
        `none for ${process.platform}-${process.arch}`,
        "Install again without --omit=optional. Only perch dev needs it.",
      );
};

function serverCheck(): Check {
  try {
    return passed("server of perch dev", findServer().release);
  } catch {
    return failed("server of perch dev", "not installed", "Install perch again. Only perch dev needs it.");
  }
}

function profilesCheck({ env }: Session): Check {
  const file = profilesFile(env);
  if (!existsSync(file)) return passed("profiles", "none");
  const isOpen = process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
  return isOpen
    ? failed("profiles", `${file} can be read by others`, `chmod 600 ${file}`)
    : passed("profiles", `${file}, readable by you alone`);
}

/** Checks whether the server answers, is ready, and accepts the key. Stops at the first failure, which explains the rest. */
async function* remoteChecks({ connection, perch, signal, time }: Session): AsyncGenerator<Check> {
  let url: string;
  try {
    const found = connection();
    url = found.url;
    yield passed("connection", `${url}, from ${found.source}`);
  } catch (error) {
    if (!(error instanceof Problem)) return yield failed("connection", "none", errorText(error));
    return yield failed("connection", error.message, error.hint ?? "");
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
  const status = await fetch(`${url}/readyz`, { signal: limit }).then(
    (answer) => answer.status,
    () => undefined,
  );
  if (status === undefined)
    return yield failed(
      "server",
      `${url} does not answer`,
      `Start it (${perchCommand("dev")}), or correct the address.`,
    );
  if (status !== 200)
    return yield failed(
      "server",
      `${url}/readyz answers ${status}`,
      "It runs but cannot reach its database: see its log.",
    );
  yield passed("server", "ready");
  try {
    const { organisation, key } = await perch().me({ signal });
    yield passed("key", `${key.name} of ${organisation.name}: ${key.permissions.join(", ")}`);
    const endsAt = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at);
    if (endsAt - Date.now() < 7 * 86_400_000)
      yield failed("key's end", time(key.expires_at), perchCommand(`keys rotate ${key.id}`));
  } catch (error) {
    yield failed("key", errorText(error), `${perchCommand("login")} with a valid key.`);
  }
}

export const doctor = command({
  name: "doctor",
  summary: "Check this installation and the server: what is wrong, how to fix it.",
  run: async (session) => {
    const { terminal, show } = session;
    const checks = [passed("perch", version), nodeCheck(), serverCheck(), engineCheck(), profilesCheck(session)];
    for await (const check of remoteChecks(session)) checks.push(check);
    const wrong = checks.filter(({ ok }) => !ok);
    show({ ok: wrong.length === 0, checks }, () => {
      for (const { name, ok, found, fix } of checks) {
        terminal.line(`${ok ? terminal.style("green", "ok  ") : terminal.style("red", "FAIL")} ${name}: ${found}`);
        if (fix) terminal.line(`     ${fix}`);
      }
    });
    if (wrong.length > 0) throw new Problem(`${wrong.length} of ${checks.length} checks failed.`);
  },
});
