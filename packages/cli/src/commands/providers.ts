import { command, type OptionSpec, type OptionSpecs, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem, UsageError } from "../problem.ts";

const types = ["openai", "anthropic", "google", "openai-compatible"] as const;

const list = command({
  name: "providers list",
  summary: "List the organisation's model providers.",
  options: listOptions,
  run: async ({ perch, terminal, show, signal }, _, page) => {
    const found = await perch().providers.list(pageOf(page), { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "providers",
          narrowedBy: [page.offset],
          next: `Add one with \`${perchCommand("providers add")}\`.`,
        });
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

interface KeyOptions {
  readonly "api-key-env"?: string;
  readonly "api-key-secret"?: string;
}

/** Undefined if neither option is given. */
function apiKeyOf(name: string, options: KeyOptions, env: NodeJS.ProcessEnv): string | undefined {
  const { "api-key-env": variable, "api-key-secret": secret } = options;
  if (variable !== undefined && secret !== undefined)
    throw new UsageError(`perch ${name}: give either --api-key-env or --api-key-secret.`);
  if (secret !== undefined) return `{{secret.${secret}}}`;
  if (variable === undefined) return undefined;
  const value = env[variable];
  if (value) return value;
  // A text that cannot be a variable's name may be the key itself, and is not repeated.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) || isLikelyKey(variable))
    throw new UsageError(`perch ${name}: --api-key-env is the name of a variable, not the key itself.`);
  throw new Problem(
    `The environment variable ${variable} is ${value === undefined ? "not set" : "empty"}, so there is no key to store.`,
    `Set it first: export ${variable}=…`,
  );
}

/** A variable's name in lower case that is as long as a key. */
const isLikelyKey = (text: string): boolean => text.length >= 20 && text !== text.toUpperCase();

const keyOptions = {
  "api-key-env": { type: "string", value: "VARIABLE", help: "Environment variable with the provider's API key." },
  "api-key-secret": {
    type: "string",
    value: "NAME",
    help: "Secret of the organisation with the provider's API key.",
  },
} as const satisfies OptionSpecs;

const modelOption = {
  type: "string",
  value: "NAME",
  multiple: true,
  help: "A model that agents may use. Can be repeated. Default: all models.",
} as const satisfies OptionSpec;

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
    ...keyOptions,
    model: modelOption,
  },
  examples: ["perch providers add local --base-url http://127.0.0.1:11434/v1"],
  run: async ({ perch, terminal, show, signal, env }, { name }, options) => {
    const { type = "openai-compatible", "base-url": base_url, model: models } = options;
    const api_key = apiKeyOf("providers add", options, env);
    const body = { name, type, ...omitUndefined({ base_url, api_key, models }) };
    const created = await perch().providers.create(body, { signal });
    show(created, () => terminal.line(`${created.name}: use model: ${created.name}/<model>`));
  },
});

const update = command({
  name: "providers update",
  summary: "Change a model provider's key, address or models. What is not named stays.",
  details:
    "Takes effect with the next model call. A new address needs the key again, so that a stored key is never sent to another address.",
  args: ["name"],
  options: {
    "base-url": { type: "string", value: "URL", help: "URL of the provider's API, or default for its public API." },
    ...keyOptions,
    "remove-api-key": { type: "boolean", help: "Remove the stored key." },
    model: { ...modelOption, help: "A model that agents may use; replaces the list. Can be repeated." },
    "all-models": { type: "boolean", help: "Agents may use every model of the provider." },
  },
  examples: ["perch providers update openai --api-key-env OPENAI_API_KEY", "perch providers update local --all-models"],
  run: async ({ perch, terminal, show, signal, env }, { name }, options) => {
    const { "base-url": url, "remove-api-key": removesKey, model, "all-models": allModels } = options;
    const given = apiKeyOf("providers update", options, env);
    if (removesKey && given !== undefined)
      throw new UsageError("perch providers update: --remove-api-key stands alone, without another key.");
    if (allModels && model) throw new UsageError("perch providers update: give either --model or --all-models.");
    const body = omitUndefined({
      base_url: url === "default" ? null : url,
      api_key: removesKey ? null : given,
      models: allModels ? [] : model,
    });
    if (Object.keys(body).length === 0)
      throw new UsageError(
        "perch providers update: give at least one of --base-url, --api-key-env, --api-key-secret, --remove-api-key, --model and --all-models.",
      );
    const changed = await perch().providers.update(name, body, { signal });
    show(changed, () => terminal.line(`${changed.name} updated: ${Object.keys(body).map(wordOf).join(", ")}.`));
  },
});

const words: Readonly<Record<string, string>> = { base_url: "address", api_key: "key" };
const wordOf = (field: string): string => words[field] ?? field;

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

export const providerCommands = [list, add, update, remove];
