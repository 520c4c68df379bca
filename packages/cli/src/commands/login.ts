import { type Me, Perch } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { printTable } from "../output/table.ts";
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

const login = command({
  name: "login",
  summary: "Save a URL and an API key as a profile, after checking them.",
  details:
    "The key is read from standard input, so that it does not end up in the shell's history: type it when asked, or perch login NAME --url URL < key.txt. --key works too. Without --url, both are taken from PERCH_URL and PERCH_API_KEY.\nProfiles are stored in perch/config.json in your configuration folder, readable only by you. The new profile becomes the current one.",
  args: ["name?"],
  examples: ["perch login staging --url https://perch.example.com"],
  run: async ({ terminal, env, connectionOptions, show, signal }, { name = "default" }) => {
    const { url, key: known } = addressToSave(connectionOptions, env);
    const read = () => (terminal.isInputInteractive ? terminal.secret("API key: ") : terminal.readAll());
    const key = known || (await read()).trim();
    const me = await new Perch({ baseUrl: url, apiKey: key }).me({ signal });
    const { profiles } = readProfiles(env);
    const file = writeProfiles(env, { current: name, profiles: { ...profiles, [name]: { url, key } } });
    show({ profile: name, url, organisation: me.organisation, file }, () =>
      terminal.line(
        `Profile ${name}: ${me.organisation.name} at ${url}, ${me.key.permissions.join(", ")}. Saved in ${file}.`,
      ),
    );
  },
});

const list = command({
  name: "profiles",
  summary: "List profiles.",
  run: async ({ terminal, env, show }) => {
    const { current, profiles } = readProfiles(env);
    const known = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
    show(known, () => {
      if (known.length === 0) return terminal.note("No profiles yet. Create one with perch login.");
      const rows = known.map((one) => [one.current ? "*" : "", one.name, one.url]);
      printTable(terminal, ["", "profile", "url"], rows);
    });
  },
});

const use = command({
  name: "profiles use",
  summary: "Make a profile the current one.",
  args: ["name"],
  run: async ({ terminal, env, show }, { name }) => {
    const { profiles } = readProfiles(env);
    if (!profiles[name]) throw new Problem(`There is no profile ${name}.`, "perch profiles lists them.");
    writeProfiles(env, { current: name, profiles });
    show({ current: name }, () => terminal.line(`${name} is the current profile.`));
  },
});

const remove = command({
  name: "logout",
  summary: "Remove a profile from this machine. The key stays valid; perch keys revoke revokes it.",
  args: ["name?"],
  run: async ({ terminal, env, show }, { name }) => {
    const { current, profiles } = readProfiles(env);
    const removed = name ?? current;
    if (removed === null || !profiles[removed]) throw new Problem(`There is no profile ${removed ?? "yet"}.`);
    const { [removed]: _, ...rest } = profiles;
    writeProfiles(env, { current: current === removed ? null : current, profiles: rest });
    show({ removed: removed }, () => terminal.line(`Profile ${removed} removed.`));
  },
});

const spaced = (name: string): string => name.replaceAll("_", " ");
const counted = (value: number): string => value.toLocaleString("en-US");

/** A server of an older release sends neither. */
function printUsage(terminal: Terminal, { usage, limits }: Partial<Pick<Me, "usage" | "limits">>): void {
  const used = Object.entries(usage ?? {}).map(([name, use]) => [spaced(name), counted(use.used), counted(use.limit)]);
  const others = Object.entries(limits ?? {}).map(([name, limit]) => [spaced(name), "", counted(limit)]);
  if (used.length + others.length > 0) printTable(terminal, ["quota", "used", "limit"], [...used, ...others]);
}

const whoami = command({
  name: "whoami",
  summary: "Show the server, the API key with its permissions, and what the organisation has and may have.",
  run: async ({ perch, connection, terminal, show, signal }) => {
    const { url, source } = connection();
    const me = await perch().me({ signal });
    show({ url, source, ...me }, () => {
      terminal.line(`${me.organisation.name} (${me.organisation.id}, ${me.organisation.tier}) at ${url}`);
      terminal.line(`${me.key.name} (${me.key.id}): ${me.key.permissions.join(", ")}; from ${source}`);
      printUsage(terminal, me);
    });
  },
});

export const profileCommands = [login, remove, list, use, whoami];
