/** The environment is wrong: the message says which variable, and is all that the operator needs to see. */
export class ConfigError extends Error {}
