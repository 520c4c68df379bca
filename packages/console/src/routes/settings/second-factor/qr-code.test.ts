import decodeQR from "qr/decode.js";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { QrCode } from "./qr-code.tsx";

const pixelsPerSquare = 4;

/** The drawing as a camera sees it: white, and black where the path has a square. */
function photograph(svg: string) {
  expect(svg).toContain('<rect width="100%" height="100%" fill="#fff">');
  expect(svg).toContain('fill="#000"');
  const squares = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const size = squares * pixelsPerSquare;
  const data = new Uint8ClampedArray(size * size * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let i = 0; i < pixelsPerSquare ** 2; i++) {
      const column = Number(x) * pixelsPerSquare + (i % pixelsPerSquare);
      const row = Number(y) * pixelsPerSquare + Math.floor(i / pixelsPerSquare);
      data.fill(0, (row * size + column) * 4, (row * size + column) * 4 + 3);
    }
  return { width: size, height: size, data };
}

test("a camera reads the text, with the longest name a key can have", () => {
  const name = encodeURIComponent("ключ для отчётов ".repeat(6).slice(0, 100));
  for (const label of ["deploy", name]) {
    const text = `otpauth://totp/Perch:${label}?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Perch`;
    expect(decodeQR(photograph(renderToStaticMarkup(createElement(QrCode, { text, label: "code" }))))).toBe(text);
  }
});
