/** The environment is wrong: the message names the variable, and is all that the operator needs to see. */
export class ConfigError extends Error {}

/** The last line of a message about settings. */
export const seeSettingsPage = "See docs/operations/configuration.md.";
