import { Outlet } from "@tanstack/react-router";
import { Suspense } from "react";
import { Working } from "../parts/working.tsx";
import { Rail } from "./rail.tsx";
import { TopBar } from "./top-bar.tsx";

/** The rail, the top bar, and the page beside and below them. */
export const Frame = () => (
  <div className="flex h-full">
    <a
      href="#page"
      className="sr-only z-50 rounded bg-surface p-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
    >
      Skip to the page
    </a>
    <Rail />
    <div className="flex min-w-0 flex-1 flex-col">
      <TopBar />
      <main id="page" tabIndex={-1} className="min-h-0 flex-1 outline-none">
        <Suspense fallback={<Working what="the page" />}>
          <Outlet />
        </Suspense>
      </main>
    </div>
  </div>
);
