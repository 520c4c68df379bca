import type { ApiKey } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

const marks = { active: "active", expired: "superseded", revoked: "failed" } as const;

/** A revoked key has the mark of a failure, because it was withdrawn; an expired one only reached its end. */
export const KeyState = ({ status }: Pick<ApiKey, "status">) => <StatusMark status={marks[status]} word={status} />;
