import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printMore, printTable } from "../output/table.ts";
import { UsageError } from "../problem.ts";

const types = ["openai", "anthropic", "google", "openai-compatible"] as const;

const list = command({
  name: "providers",
  summary: "List the organisation's model providers.",
  options: listOptions,
  run: async ({ perch, terminal, show, signal }, _, page) => {
    const found = await perch().providers.list(pageOf(page), { signal });
    show(found, () => {
      const rows = found.data.map((one) => [
        one.name,
        one.type,
        one.base_url ?? "default",
        one.api_key_secret ? `{{secret.${one.api_key_secret}}}` : one.api_key_set ? "set" : "none",
      ]);
      printTable(terminal, ["provider", "type", "address", "key"], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

function apiKeyOf(
  { "api-key-env": variable, "api-key-secret": secret }: { "api-key-env"?: string; "api-key-secret"?: string },
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (variable !== undefined && secret !== undefined)
    throw new UsageError("perch providers add: give either --api-key-env or --api-key-secret.");
  if (secret !== undefined) return `{{secret.${secret}}}`;
  return variable === undefined ? undefined : env[variable];
}

const add = command({
  name: "providers add",
  summary: "Add a model provider. Use its models as <name>/<model>.",
  details:
    "The provider's API key is read from the environment variable that --api-key-env names, so that it does not end up in the shell's history. Or it is one of the organisation's secrets, which --api-key-secret names.",
  args: ["name"],
  options: {
    type: { type: "string", choices: types, help: "API of the provider. Default: openai-compatible." },
    "base-url": {
      type: "string",
      value: "URL",
      help: "URL of the provider's API. Default: the provider's public API.",
    },
    "api-key-env": { type: "string", value: "VARIABLE", help: "Environment variable with the provider's API key." },
    "api-key-secret": {
      type: "string",
      value: "NAME",
      help: "Secret of the organisation with the provider's API key.",
    },
  },
  examples: ["perch providers add local --base-url http://127.0.0.1:11434/v1"],
  run: async ({ perch, terminal, show, signal, env }, { name }, options) => {
    const { type = "openai-compatible", "base-url": base_url } = options;
    const api_key = apiKeyOf(options, env);
    const created = await perch().providers.create({ name, type, ...omitUndefined({ base_url, api_key }) }, { signal });
    show(created, () => terminal.line(`${created.name}: use model: ${created.name}/<model>`));
  },
});

const remove = command({
  name: "providers delete",
  summary: "Delete a model provider. Agents that use it will fail.",
  args: ["name"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show, signal }, { name }, { yes }) => {
    if (!(await terminal.confirm(`Delete the provider ${name}?`, yes === true))) return;
    const deleted = await perch().providers.delete(name, { signal });
    show(deleted, () => terminal.line(`${name} deleted.`));
  },
});

export const providerCommands = [list, add, remove];
