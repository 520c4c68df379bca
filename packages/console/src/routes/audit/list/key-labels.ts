/** What each key is chosen by, with its id: its name, and the id too where several have the name, as after a rotation. */
export function keyLabels(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...names].map(([id, name]) => [(counts.get(name) ?? 0) > 1 ? `${name} (${id})` : name, id]));
}
