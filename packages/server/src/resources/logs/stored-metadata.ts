/** Fields of a log entry, by their public names. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * Rows and journals have older names for some fields of a run's own lines: `asked` and `said` for `input` and `output`, and the type `cut`
 * for `truncated`. They stay, because two releases use the same rows during an upgrade and after one is rolled back.
 */
export const toStoredMetadata = ({ input, output, ...rest }: Metadata): Metadata => ({
  ...rest,
  ...(rest.type === "truncated" && { type: "cut" }),
  ...(input !== undefined && { asked: input }),
  ...(output !== undefined && { said: output }),
});

export function fromStoredMetadata(stored: unknown): Metadata {
  const { asked, said, ...rest } = stored as Metadata;
  return {
    ...rest,
    ...(rest.type === "cut" && { type: "truncated" }),
    ...(asked !== undefined && { input: asked }),
    ...(said !== undefined && { output: said }),
  };
}
