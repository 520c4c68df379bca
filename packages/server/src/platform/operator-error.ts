/**
 * A problem outside of this program that its operator can fix: the message explains how, and is printed without a
 * stack.
 */
export class OperatorError extends Error {}
