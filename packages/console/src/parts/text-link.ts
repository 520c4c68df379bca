/** The class of a link within text or facts. It is underlined, so that it is recognised by more than its colour. */
export const textLinkClass = "text-accent underline decoration-line-strong underline-offset-2 hover:decoration-current";
