/** Of a link within a line of text or facts: underlined, so that it is not known by its colour alone. */
export const textLinkClass = "text-accent underline decoration-line-strong underline-offset-2 hover:decoration-current";
