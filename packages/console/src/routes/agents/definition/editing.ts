import type { Agent } from "@perch/sdk";
import type { AgentDocument } from "./agent-document.ts";

/** What somebody has typed, and the agent that it began with. */
export interface Editing {
  readonly base: Agent;
  /** What the text is compared with: only what differs from it is saved. */
  readonly began: AgentDocument;
  readonly text: string;
}

interface Sent {
  readonly document: AgentDocument;
  readonly text: string;
}

/** After saving nothing is left to save, but for what was typed since. That is compared with what was sent, so that it takes back nothing of others. */
export const editingAfterSave = (editing: Editing | undefined, sent: Sent, saved: Agent): Editing | undefined =>
  editing === undefined || editing.text === sent.text
    ? undefined
    : { base: saved, began: sent.document, text: editing.text };
