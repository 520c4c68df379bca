/** A label for a new version: the newest one with its last number raised, if no version has it yet. */
export function nextLabel(labels: readonly string[]): string {
  const [newest = "v0"] = labels;
  let next = raised(newest);
  while (labels.includes(next)) next = raised(next);
  return next;
}

const raised = (label: string): string => {
  const [, start = label, digits = "", end = ""] = /^(.*?)(\d{1,15})(\D*)$/.exec(label) ?? [];
  return digits === "" ? `${label}-2` : `${start}${Number(digits) + 1}${end}`;
};
