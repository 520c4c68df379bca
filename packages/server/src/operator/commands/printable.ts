/** The name of an organisation could contain sequences that a terminal obeys. */
export const printable = (name: string): string => name.replaceAll(/\p{C}/gu, "�");
