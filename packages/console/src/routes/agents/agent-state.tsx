import type { AgentStatus } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

/** An agent that is running takes messages; nothing of it need be under way, so its mark stands still. */
export const AgentState = ({ status }: { readonly status: AgentStatus }) => (
  <StatusMark status={status === "running" ? "active" : status} word={status} />
);
