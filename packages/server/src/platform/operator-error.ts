/** Something outside of this program that its operator can mend: the message says how, and is printed without a stack. */
export class OperatorError extends Error {}
