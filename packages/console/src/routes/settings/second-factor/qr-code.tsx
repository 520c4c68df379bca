import encodeQR from "qr";

/** The light margin around the code, without which cameras do not find it. */
const border = 4;

/** One path of squares: `M x y h1v1h-1z` for each dark one. */
const squares = (rows: readonly (readonly boolean[])[]): string =>
  rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");

/** The code for a camera: dark on light in both themes, and with the browser's forced colours. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = encodeQR(text, "raw", { border, ecc: "low" });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className="size-56"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares(rows)} fill="#000" />
    </svg>
  );
}
