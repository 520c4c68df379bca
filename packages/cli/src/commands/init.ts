import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { command, type Session } from "../command.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";

const templatesFolder = join(import.meta.dirname, "../../templates");
export const templates = ["echo", "openai", "remote"] as const;

type Template = (typeof templates)[number];

/** The requirements of a template before its agent answers. */
const preparations: Readonly<Record<Template, () => readonly string[]>> = {
  echo: () => [],
  openai: () => [`${perchCommand("providers add local --base-url http://127.0.0.1:11434/v1")}   # where your model is`],
  remote: () => ["node server.mjs   # in a terminal of its own"],
};

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const nameFrom = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63);

/** Data and keys of `perch dev`, and the values of secrets, must not be committed. */
function ignoreData(folder: string): void {
  const file = join(folder, ".gitignore");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = [".perch/", ".env"].filter((line) => !text.split("\n").includes(line));
  if (missing.length === 0) return;
  writeFileSync(file, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
}

/** The commands up to the first answer, as they are typed. */
function nextSteps({ connection }: Session, template: Template, name: string, folder: string | undefined): string[] {
  const hasServer = () => {
    try {
      return Boolean(connection());
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  };
  return [
    ...(folder === undefined ? [] : [`cd "${folder}"`]),
    ...(hasServer() ? [] : [`${perchCommand("dev")}   # in a terminal of its own`]),
    ...preparations[template](),
    perchCommand("apply"),
    perchCommand(`invoke ${name} "Hello"`),
  ];
}

export const init = command({
  name: "init",
  summary: "Create agent.yaml and the files it needs from a template.",
  details:
    "Templates:\n  echo    replies with the message; needs no model provider\n  openai  a model with an OpenAI-compatible API; an MCP tool is prepared in comments\n  remote  your own agent, as a small HTTP service",
  args: ["folder?"],
  options: {
    template: { type: "string", short: "t", choices: templates, help: "The template. Default: echo." },
    name: { type: "string", value: "NAME", help: "Name of the agent. Default: the folder's name, or my-agent." },
  },
  examples: ["perch init", "perch init support --template openai"],
  run: async (session, { folder }, { template = "echo", name: wanted }) => {
    const { terminal, show, cwd } = session;
    const target = resolve(cwd, folder ?? ".");
    const name = wanted ?? (folder === undefined ? "my-agent" : nameFrom(basename(target)) || "my-agent");
    if (!namePattern.test(name))
      throw new Problem(`${name} cannot be an agent's name.`, "Use lower-case letters, digits and hyphens.");
    const source = join(templatesFolder, template);
    const files = readdirSync(source).sort();
    const present = files.find((file) => existsSync(join(target, file)));
    if (present)
      throw new Problem(`${join(folder ?? ".", present)} is there already.`, "perch init does not overwrite files.");
    mkdirSync(target, { recursive: true });
    for (const file of files) {
      cpSync(join(source, file), join(target, file));
      const text = readFileSync(join(target, file), "utf8");
      writeFileSync(join(target, file), text.replaceAll("my-agent", name));
    }
    cpSync(join(templatesFolder, "../agent.schema.json"), join(target, "agent.schema.json"));
    ignoreData(target);
    const written = [...files, "agent.schema.json", ".gitignore"];
    const next = nextSteps(session, template, name, folder);
    show({ name, template, folder: target, files: written, next }, () => {
      terminal.line(`Wrote ${written.join(", ")}${folder === undefined ? "" : ` in ${folder}`}.`);
      terminal.line("Next:");
      for (const step of next) terminal.line(`  ${terminal.style("cyan", step)}`);
    });
  },
});
