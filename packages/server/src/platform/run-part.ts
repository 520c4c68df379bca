/** A run, or what follows after it has waited for a person for the nth time. */
interface RunPart {
  readonly id: string;
  /** Absent or 0: its beginning. */
  readonly cut?: number | undefined;
}

/** Names one part of a run, for the engine and for its slot: the beginning has the run's own id. */
export const runPartId = ({ id, cut }: RunPart): string => (cut ? `${id}.${cut}` : id);

/** How often the run had waited when this part began. */
export const cutOfPart = (part: string): number => Number(part.split(".", 2)[1] ?? 0);

/** The run that a part belongs to. */
export const runIdOfPart = (part: string): string => part.split(".", 1)[0] ?? part;
