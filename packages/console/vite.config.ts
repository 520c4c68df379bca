import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compressFiles } from "./compress-files.ts";

const server = process.env.PERCH_URL ?? "http://127.0.0.1:7400";
const key = process.env.PERCH_API_KEY;

/** `pnpm --filter @perch/console dev` shows the source in a browser, against a server that runs. Nothing of this is in the built files. */
const devServer = {
  host: "127.0.0.1",
  port: 7500,
  proxy: {
    "/v1": { target: server, ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }) },
  },
};

export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwindcss(), compressFiles()],
  server: devServer,
  build: {
    target: "es2023",
    // A font or picture in a data URL would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    // The licences of what is bundled ask for their text in every copy.
    license: { fileName: "licences.md" },
    chunkSizeWarningLimit: 1000,
  },
});
