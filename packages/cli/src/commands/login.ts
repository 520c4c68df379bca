import type { Me } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { type Connection, findConnection, passedOver } from "../connection.ts";
import { didYouMean } from "../nearest.ts";
import { printTable } from "../output/table.ts";
import { spaced } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem, UsageError } from "../problem.ts";
import { readProfiles, writeProfiles } from "../profiles.ts";
import type { Terminal } from "../terminal.ts";

/** The key of the environment is for the address of the environment only. */
function addressToSave({ url, key }: Session["connectionOptions"], env: NodeJS.ProcessEnv) {
  if (url) return { url, key };
  if (key) throw new UsageError("perch login: --key needs --url, the address that the key is for.");
  if (!env.PERCH_URL) throw new UsageError("perch login: --url is missing.");
  return { url: env.PERCH_URL, key: env.PERCH_API_KEY };
}

/**
 * The connection that later commands use if they have no options. A problem, such as one variable without the other, is
 * reported by those commands.
 */
function findUsed(env: NodeJS.ProcessEnv, cwd: string): Connection | Problem {
  try {
    return findConnection({}, env, cwd);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Something else comes before the current profile. */
function noteUnused(terminal: Terminal, env: NodeJS.ProcessEnv, cwd: string): void {
  const used = findUsed(env, cwd);
  const note = used instanceof Problem ? used.message : passedOver(used, env);
  if (note !== undefined) terminal.note(terminal.style("yellow", note));
}

const login = command({
  name: "login",
  summary: "Save a URL and an API key as a profile, after checking them.",
  details:
    "The key is read from standard input, so that it does not end up in the shell's history: type it when asked, or `perch login NAME --url URL < key.txt`. --key works too. Without --url, both are taken from PERCH_URL and PERCH_API_KEY.\nProfiles are stored in perch/config.json in your configuration folder, readable only by you. The new profile becomes the current one.",
  args: ["name?"],
  examples: ["perch login staging --url https://perch.example.com"],
  run: async ({ terminal, env, cwd, connectionOptions, perchAt, show, signal }, { name = "default" }) => {
    const { url, key: known } = addressToSave(connectionOptions, env);
    const read = () => (terminal.isInputInteractive ? terminal.secret("API key: ") : terminal.readAll());
    const key = known || (await read()).trim();
    const me = await perchAt({ url, key, source: "perch login", reason: "" }).me({ signal });
    const { profiles } = readProfiles(env);
    const file = writeProfiles(env, { current: name, profiles: { ...profiles, [name]: { url, key } } });
    show({ profile: name, url, organisation: me.organisation, file }, () => {
      const what = `Profile ${name}: ${me.organisation.name} at ${url}, ${me.key.permissions.join(", ")}.`;
      terminal.line(terminal.wrap(`${what} Saved in ${file}.`));
      noteUnused(terminal, env, cwd);
    });
  },
});

const list = command({
  name: "profiles list",
  summary: "List profiles.",
  details: "The current profile has a star. A line below shows which server the commands in this folder use, and why.",
  run: async ({ terminal, env, cwd, show }) => {
    const { current, profiles } = readProfiles(env);
    const known = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
    show(known, () => {
      if (known.length === 0) return terminal.note(`No profiles yet. Create one with \`${perchCommand("login")}\`.`);
      const rows = known.map((one) => [one.current ? "*" : "", one.name, one.url]);
      printTable(terminal, ["", "profile", "url"], rows);
      const used = findUsed(env, cwd);
      if (used instanceof Problem || passedOver(used, env) !== undefined) noteUnused(terminal, env, cwd);
      else terminal.note(terminal.style("dim", `Commands go to ${used.url}: ${used.reason}.`));
    });
  },
});

const use = command({
  name: "profiles use",
  summary: "Make a profile the current one.",
  args: ["name"],
  details:
    "--url and --key, --profile, PERCH_URL and PERCH_API_KEY, PERCH_PROFILE, and a `perch dev` of this folder come first, in this order. If one of them does, this command says so.",
  run: async ({ terminal, env, cwd, show }, { name }) => {
    const { profiles } = readProfiles(env);
    if (!Object.hasOwn(profiles, name)) {
      const suggestion = didYouMean(name, Object.keys(profiles));
      throw new Problem(`There is no profile ${name}.${suggestion}`, `\`${perchCommand("profiles")}\` lists them.`);
    }
    writeProfiles(env, { current: name, profiles });
    show({ current: name }, () => {
      terminal.line(`${name} is the current profile.`);
      noteUnused(terminal, env, cwd);
    });
  },
});

const remove = command({
  name: "logout",
  summary: "Remove a profile from this machine.",
  details: "The key stays valid: `perch keys revoke` revokes it.",
  args: ["name?"],
  run: async ({ terminal, env, show }, { name }) => {
    const { current, profiles } = readProfiles(env);
    const removed = name ?? current;
    if (removed === null || !Object.hasOwn(profiles, removed))
      throw new Problem(
        removed === null ? "There is no profile yet." : `There is no profile ${removed}.`,
        `\`${perchCommand("profiles")}\` lists them.`,
      );
    const { [removed]: _, ...rest } = profiles;
    writeProfiles(env, { current: current === removed ? null : current, profiles: rest });
    show({ removed: removed }, () => terminal.line(`Profile ${removed} removed.`));
  },
});

const counted = (value: number): string => value.toLocaleString("en-US");

/** A server of an older release sends neither. */
function printUsage(terminal: Terminal, { usage, limits }: Partial<Pick<Me, "usage" | "limits">>): void {
  const used = Object.entries(usage ?? {}).map(([name, use]) => [spaced(name), counted(use.used), counted(use.limit)]);
  const others = Object.entries(limits ?? {}).map(([name, limit]) => [spaced(name), "", counted(limit)]);
  if (used.length + others.length > 0) printTable(terminal, ["quota", "used", "limit"], [...used, ...others]);
}

const whoami = command({
  name: "whoami",
  summary: "Show the server, the key, why they are used, and the quotas.",
  run: async ({ perch, connection, env, terminal, show, signal }) => {
    const used = connection();
    const { url, source } = used;
    const me = await perch().me({ signal });
    show({ url, source, ...me }, () => {
      const { organisation, key } = me;
      terminal.line(`organisation  ${organisation.name} (${organisation.id}), ${organisation.tier}`);
      terminal.line(`server        ${url}`);
      terminal.line(`because       ${used.reason}`);
      terminal.line(`key           ${key.name} (${key.id})`);
      terminal.line(`permissions   ${key.permissions.join(", ")}`);
      printUsage(terminal, me);
      const note = passedOver(used, env);
      if (note !== undefined) terminal.note(terminal.style("yellow", note));
    });
  },
});

export const profileCommands = [login, remove, list, use, whoami];
