import type { ModelEntry } from "@perch/contract";
import { builtInModels } from "../models/models.ts";
import type { ProviderSettings } from "../models/provider-model.ts";

/** A provider that the operator gives to every organisation. An empty list of models means any. */
export interface InstallationProvider extends ProviderSettings {
  readonly models: readonly string[];
}

const entriesOf = (
  { name, models }: { readonly name: string; readonly models: readonly string[] },
  source: ModelEntry["source"],
): ModelEntry[] =>
  (models.length > 0 ? models : ["*"]).map((model) => ({ id: `${name}/${model}`, provider: name, source }));

/** What an organisation's agents can run on. Its own provider goes before the server's of the same name. */
export function usableModels(
  installation: readonly InstallationProvider[],
  own: readonly { readonly name: string; readonly models: readonly string[] }[],
): ModelEntry[] {
  const names = new Set(own.map(({ name }) => name));
  return [
    ...entriesOf({ name: "perch", models: builtInModels }, "built-in"),
    ...own.flatMap((provider) => entriesOf(provider, "organisation")),
    ...installation.filter(({ name }) => !names.has(name)).flatMap((provider) => entriesOf(provider, "installation")),
  ];
}
