import type { AsyncRouteComponent } from "@tanstack/react-router";
import { type ComponentType, use } from "react";

const pages = new Set<() => Promise<unknown>>();

/**
 * A page, or a part of the frame, that loads when it is opened. The router's own lazy component reloads the whole page when a part is
 * missing, and without a connection that would lose the current page.
 */
export function lazyPage<Name extends string, Props extends object = object>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): AsyncRouteComponent<Props> {
  type Page = ComponentType<Props>;
  let loading: Promise<Page> | undefined;
  const preload = (): Promise<Page> => {
    loading ??= load().then(
      (module) => {
        const value: Page = module[name];
        // React reads these two fields: a loaded page renders at once, without waiting for the promise again.
        if (loading) void Object.assign(loading, { status: "fulfilled", value });
        return value;
      },
      (error: unknown) => {
        // The failure stays for a moment, for the page that shows it. The next attempt starts anew.
        setTimeout(() => {
          loading = undefined;
        }, 500);
        throw error;
      },
    );
    return loading;
  };
  pages.add(preload);
  const LazyPage = (props: Props) => {
    const Loaded = use(preload());
    return <Loaded {...props} />;
  };
  // A failed preload is only reported when the page is opened.
  return Object.assign(LazyPage, {
    preload: () =>
      preload().then(
        () => undefined,
        () => undefined,
      ),
  });
}

const calmMs = 2000;

/** Loads the other pages while the browser is idle, so that they open at once, and without a connection too. */
export function preloadPages(): void {
  setTimeout(async () => {
    for (const preload of pages) await preload().catch(() => undefined);
  }, calmMs);
}
