/** Something the reader can act on: printed without a stack. */
export class Problem extends Error {}
