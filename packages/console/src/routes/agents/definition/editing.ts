import type { Agent } from "@perch/sdk";
import type { AgentDocument } from "./agent-document.ts";

/** The typed text, and the agent that it started from. */
export interface Editing {
  readonly base: Agent;
  /** The base of the comparison: only fields that differ from it are saved. */
  readonly began: AgentDocument;
  readonly text: string;
}

interface Sent {
  readonly document: AgentDocument;
  readonly text: string;
}

/**
 * After saving, only text typed since then is left to save. It is compared with the sent document, so that it reverts no other user's
 * change.
 */
export const editingAfterSave = (editing: Editing | undefined, sent: Sent, saved: Agent): Editing | undefined =>
  editing === undefined || editing.text === sent.text
    ? undefined
    : { base: saved, began: sent.document, text: editing.text };
