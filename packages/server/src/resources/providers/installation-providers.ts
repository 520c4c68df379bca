import type { ModelEntry } from "@perch/contract";
import type { ProviderSettings } from "../../outbound/models/provider-model.ts";

/** A provider that the operator gives to every organisation. An empty list of models means any. */
export interface InstallationProvider extends ProviderSettings {
  readonly models: readonly string[];
}

const toModelEntries = (
  { name, models }: { readonly name: string; readonly models: readonly string[] },
  source: ModelEntry["source"],
): ModelEntry[] =>
  (models.length > 0 ? models : ["*"]).map((model) => ({ id: `${name}/${model}`, provider: name, source }));

/** The models that an organisation's agents can use. Its own provider hides the installation's of the same name. */
export function listUsableModels(
  builtIn: readonly string[],
  installation: readonly InstallationProvider[],
  own: readonly { readonly name: string; readonly models: readonly string[] }[],
): ModelEntry[] {
  const names = new Set(own.map(({ name }) => name));
  return [
    ...toModelEntries({ name: "perch", models: builtIn }, "built-in"),
    ...own.flatMap((provider) => toModelEntries(provider, "organisation")),
    ...installation
      .filter(({ name }) => !names.has(name))
      .flatMap((provider) => toModelEntries(provider, "installation")),
  ];
}
