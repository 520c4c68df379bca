import { echoModel } from "./echo-model.ts";
import { type Model, PermanentModelError } from "./model.ts";
import { createScriptModel } from "./script-model.ts";

export type FindModel = (ref: string) => Model;

/** The models this installation can run, by `provider/model`. */
export function createModels({ scriptUrl }: { readonly scriptUrl: string | undefined }): FindModel {
  const models: Record<string, Model> = { "perch/echo": echoModel, "perch/script": createScriptModel(scriptUrl) };
  return (ref) => {
    const model = models[ref];
    if (!model)
      throw new PermanentModelError(`There is no model ${ref} here. Use one of ${Object.keys(models).join(", ")}.`);
    return model;
  };
}
