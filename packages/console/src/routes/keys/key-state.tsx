import type { ApiKey } from "@perch/sdk";
import { StatusMark } from "../../parts/status-mark.tsx";

const marks = { active: "active", expired: "superseded", revoked: "failed" } as const;

/** A key that was revoked was taken away from somebody; one that expired came to its end. */
export const KeyState = ({ status }: Pick<ApiKey, "status">) => <StatusMark status={marks[status]} word={status} />;
