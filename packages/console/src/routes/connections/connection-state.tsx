import type { Connection } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

const marks = { pending: "pending", active: "active", needs_reauth: "waiting", revoked: "cancelled" } as const;

/** A shape and a hue for each state. A connection that needs a new consent waits for its user. */
export const ConnectionState = ({ status }: Pick<Connection, "status">) => (
  <StatusMark status={marks[status]} word={status.replace("_", " ")} />
);
