import { Perch } from "@perch/sdk";
import { command } from "../command.ts";
import { printTable } from "../output/table.ts";
import { Problem, UsageError } from "../problem.ts";
import { readProfiles, writeProfiles } from "../profiles.ts";

const login = command({
  name: "login",
  summary: "Keep an address and a key as a profile, after trying them.",
  details:
    "The key is read from standard input, so that it stands in no history: perch login < key.txt, or type it when asked. --key takes it too.\nProfiles are in perch/config.json of your configuration folder, readable by you alone. The last one made is the current one.",
  args: ["name?"],
  examples: ["perch login staging --url https://perch.example.com"],
  run: async ({ terminal, env, given, show, signal }, { name = "default" }) => {
    const url = given.url ?? env.PERCH_URL;
    if (!url) throw new UsageError("perch login: --url is missing.");
    const read = () => (terminal.isInteractive ? terminal.secret("API key: ") : terminal.readAll());
    const key = given.key ?? env.PERCH_API_KEY ?? (await read()).trim();
    const me = await new Perch({ baseUrl: url, apiKey: key }).me({ signal });
    const { profiles } = readProfiles(env);
    const file = writeProfiles(env, { current: name, profiles: { ...profiles, [name]: { url, key } } });
    show({ profile: name, url, organisation: me.organisation, file }, () =>
      terminal.line(
        `Profile ${name}: ${me.organisation.name} at ${url}, ${me.key.permissions.join(", ")}. Kept in ${file}.`,
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
      if (known.length === 0) return terminal.note("No profile yet; perch login makes one.");
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
  summary: "Forget a profile and its key. The key itself goes on: perch keys revoke ends it.",
  args: ["name?"],
  run: async ({ terminal, env, show }, { name }) => {
    const { current, profiles } = readProfiles(env);
    const gone = name ?? current;
    if (gone === null || !profiles[gone]) throw new Problem(`There is no profile ${gone ?? "yet"}.`);
    const { [gone]: _, ...rest } = profiles;
    writeProfiles(env, { current: current === gone ? null : current, profiles: rest });
    show({ removed: gone }, () => terminal.line(`${gone} is forgotten.`));
  },
});

const whoami = command({
  name: "whoami",
  summary: "Show which server and which key are used, and what the key may do.",
  run: async ({ perch, connection, terminal, show, signal }) => {
    const { url, source } = connection();
    const me = await perch().me({ signal });
    show({ url, source, ...me }, () => {
      terminal.line(`${me.organisation.name} (${me.organisation.id}, ${me.organisation.tier}) at ${url}`);
      terminal.line(`${me.key.name} (${me.key.id}): ${me.key.permissions.join(", ")}; from ${source}`);
    });
  },
});

export const profileCommands = [login, remove, list, use, whoami];
