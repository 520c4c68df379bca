import type { Sealer } from "../../platform/sealing.ts";
import type { RunContents } from "./run-contents.ts";

/** The run that contents belong to. They do not open as those of another. */
export interface ContentsKey {
  readonly organisationId: string;
  readonly agentId: string;
  readonly id: string;
}

const associatedDataFor = ({ organisationId, agentId, id }: ContentsKey): string =>
  JSON.stringify([organisationId, agentId, id]);

export const sealContents = (sealer: Sealer, contents: RunContents, run: ContentsKey): Buffer =>
  sealer.seal(JSON.stringify(contents), associatedDataFor(run));

export const openContents = (sealer: Sealer, sealed: Buffer, run: ContentsKey): RunContents =>
  JSON.parse(sealer.open(sealed, associatedDataFor(run))) as RunContents;
