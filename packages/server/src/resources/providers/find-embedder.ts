import { localEmbedder } from "@perch/contract";
import type { Share } from "../../fairness/shares.ts";
import type { Embedder, EmbedderRef } from "../../outbound/models/embedder.ts";
import type { LocalEmbedder } from "../../outbound/models/local-embedder.ts";
import { PermanentModelError } from "../../outbound/models/model.ts";
import { createProviderEmbedder } from "../../outbound/models/provider-embedder.ts";
import { createFindUsableProvider, type UsableProviderDeps } from "./usable-provider.ts";

/** The embedder an organisation means by an agent's `memory.embedder`, ready to be called. */
export type FindEmbedder = (
  organisationId: string,
  ref: EmbedderRef,
  /** `background` if no request waits for the answer. */
  use?: "request" | "background",
) => Promise<Embedder>;

interface FindEmbedderDeps extends UsableProviderDeps {
  /** `perch/minilm`, of which a process has one. */
  readonly local: LocalEmbedder;
  /** The share of texts that wait for it. */
  readonly embeddings: Pick<Share, "hold">;
  readonly idleTimeoutMs: number;
}

export function createFindEmbedder(deps: FindEmbedderDeps): FindEmbedder {
  const { local, embeddings, idleTimeoutMs } = deps;
  const findUsableProvider = createFindUsableProvider(deps);

  /** Texts in the background take no share: an agent has one such text at a time, and all others go first. */
  const localFor = (organisationId: string, isBackground: boolean): Embedder => {
    const embed: Embedder["embed"] = (...of) => local.embedFor({ organisationId, isBackground }, ...of);
    return {
      dimensions: local.dimensions,
      embed: isBackground ? embed : (...of) => embeddings.hold(organisationId, () => embed(...of)),
    };
  };

  return async (organisationId, { model, dimensions }, use = "request") => {
    if (model === localEmbedder) {
      if (dimensions === local.dimensions) return localFor(organisationId, use === "background");
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
