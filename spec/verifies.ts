import { type RequirementId, requirements } from "./requirements.ts";

/** Says, in a test's body, which statements the test verifies. `requirements.test.ts` reads these calls as text. */
export function verifies(...ids: RequirementId[]): void {
  for (const id of ids) {
    if (!Object.hasOwn(requirements, id)) throw new Error(`No requirement is called ${id}`);
  }
}
