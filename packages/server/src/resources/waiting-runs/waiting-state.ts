import type { ModelMessage, ModelReply } from "../../outbound/models/model.ts";
import type { ToolResult } from "../../outbound/tools/tool.ts";
import type { Sealer } from "../../platform/sealing.ts";

/** A suspension of a run: its state does not open as that of another. */
interface SuspensionKey {
  readonly organisationId: string;
  readonly id: string;
  readonly cut: number;
}

/** The stored state of a run that waits, as far as the approver sees it. The workers store more in it. */
export interface WaitingState {
  readonly run: { readonly message: string };
  readonly progress: { readonly step: number; readonly messages: readonly ModelMessage[] };
  /** The reply whose calls wait; null if the run waits for its turn in the session. */
  readonly reply: ModelReply | null;
  /** The results of the reply's calls, in their order; null for those that wait. */
  readonly results: readonly (ToolResult | null)[];
}

const associatedDataFor = ({ organisationId, id, cut }: SuspensionKey): string =>
  JSON.stringify([organisationId, id, cut]);

export const sealWaitingState = (sealer: Sealer, key: SuspensionKey, state: WaitingState): Buffer =>
  sealer.seal(JSON.stringify(state), associatedDataFor(key));

export const openWaitingState = <T extends WaitingState = WaitingState>(
  sealer: Sealer,
  key: SuspensionKey,
  sealed: Buffer,
): T => JSON.parse(sealer.open(sealed, associatedDataFor(key))) as T;
