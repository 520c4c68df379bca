/**
 * Names, in a test's body, the statements of `spec/requirements.ts` that the test verifies. `spec/requirements.test.ts` reads these
 * calls as text, and refuses an id that the table does not have.
 */
export function verifies(..._ids: readonly string[]): void {}
