import type { AgentStatus } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

/** A running agent accepts messages. It may have no run under way, so its mark does not move. */
export const AgentState = ({ status }: { readonly status: AgentStatus }) => (
  <StatusMark status={status === "running" ? "active" : status} word={status} />
);
