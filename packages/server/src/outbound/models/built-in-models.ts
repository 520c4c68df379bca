import { echoModel } from "./echo-model.ts";
import type { Model } from "./model.ts";
import { createScriptModel } from "./script-model.ts";

/** Models that need no provider, by the second half of `perch/…`. */
export const builtInModels = ["echo", "script"] as const;

export type BuiltInModels = Readonly<Record<string, Model>>;

export const createBuiltInModels = ({ scriptUrl }: { readonly scriptUrl: string | undefined }): BuiltInModels => ({
  "perch/echo": echoModel,
  "perch/script": createScriptModel(scriptUrl),
});
