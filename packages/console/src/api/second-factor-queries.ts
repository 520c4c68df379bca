import type { MfaEnrolment } from "@perch/sdk";
import { perch } from "./perch.ts";

/** Not a query, because the response is shown once and must not be cached. */
export const enrolSecondFactor = (token: string): Promise<MfaEnrolment> =>
  perch.mfa.enrol(token === "" ? {} : { headers: { "X-MFA-Code": token } });

export const confirmSecondFactor = (code: string) => perch.mfa.confirm({ code }, { maxRetries: 0 });

export const removeSecondFactor = (code: string) => perch.mfa.remove({ code }, { maxRetries: 0 });
