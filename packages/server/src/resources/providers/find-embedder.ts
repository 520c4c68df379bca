import { localEmbedder } from "@perch/contract";
import type { Embedder, EmbedderRef } from "../../outbound/models/embedder.ts";
import { PermanentModelError } from "../../outbound/models/model.ts";
import { createProviderEmbedder } from "../../outbound/models/provider-embedder.ts";
import { createFindUsableProvider, type UsableProviderDeps } from "./usable-provider.ts";

/** The embedder an organisation means by an agent's `memory.embedder`, ready to be called. */
export type FindEmbedder = (organisationId: string, ref: EmbedderRef) => Promise<Embedder>;

interface FindEmbedderDeps extends UsableProviderDeps {
  /** `perch/minilm`, of which a process has one. */
  readonly local: Embedder;
  readonly idleTimeoutMs: number;
}

export function createFindEmbedder(deps: FindEmbedderDeps): FindEmbedder {
  const { local, idleTimeoutMs } = deps;
  const findUsableProvider = createFindUsableProvider(deps);

  return async (organisationId, { model, dimensions }) => {
    if (model === localEmbedder) {
      if (dimensions === local.dimensions) return local;
      throw new PermanentModelError(`${model} makes vectors of ${local.dimensions} dimensions, not of ${dimensions}.`);
    }
    const found = await findUsableProvider(organisationId, model);
    if (!found)
      throw new PermanentModelError(
        `There is no embedder ${model} here. Use ${localEmbedder}, or add its provider: POST /v1/providers.`,
      );
    return createProviderEmbedder(found.settings, found.modelName, { dimensions, fetch: found.fetch, idleTimeoutMs });
  };
}
