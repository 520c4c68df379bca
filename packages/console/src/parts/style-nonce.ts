/** The nonce that the page's Content-Security-Policy allows for style elements. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
