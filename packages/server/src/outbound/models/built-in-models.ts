import { echoModel } from "./echo-model.ts";
import type { Model } from "./model.ts";
import { createScriptModel } from "./script-model.ts";

interface BuiltInSettings {
  /** Whether agents may use `perch/script`. */
  readonly scriptModel: boolean;
  readonly scriptModelUrl: string | undefined;
}

/** Models that need no provider, by the second half of `perch/…`. */
export const builtInModels = ({ scriptModel }: Pick<BuiltInSettings, "scriptModel">): readonly string[] =>
  scriptModel ? ["echo", "script"] : ["echo"];

export type BuiltInModels = Readonly<Record<string, Model>>;

export const createBuiltInModels = ({ scriptModel, scriptModelUrl }: BuiltInSettings): BuiltInModels => ({
  "perch/echo": echoModel,
  ...(scriptModel && { "perch/script": createScriptModel(scriptModelUrl) }),
});
