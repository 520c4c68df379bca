import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { relativeUrl } from "./html.ts";

/**
 * Links in Markdown are written for a reader of the repository. In the site, a link to a page leads to that page, a link
 * to a JSON document or an image to a copy of it, and a link to any other file to a page that shows the file.
 */
export interface Links {
  resolve(fromSource: string, fromUrl: string, href: string): string | undefined;
  /** Files outside of the pages that something links to, so far. */
  readonly linkedFiles: ReadonlySet<string>;
}

export function createLinks(repository: string, urls: ReadonlyMap<string, string>): Links {
  const linkedFiles = new Set<string>();
  const targetUrl = (path: string): string | undefined => {
    const page = urls.get(path);
    if (page) return page;
    const target = statSync(join(repository, path), { throwIfNoEntry: false });
    if (!target || path.startsWith("..")) return undefined;
    // As in the repository, a folder is shown by its README.
    if (target.isDirectory())
      return existsSync(join(repository, path, "README.md")) ? targetUrl(`${path}/README.md`) : undefined;
    linkedFiles.add(path);
    return urlOfFile(path);
  };
  return {
    linkedFiles,
    resolve(fromSource, fromUrl, href) {
      if (/^(https?:|mailto:|#)/.test(href)) return href;
      const [path = "", fragment] = href.split("#");
      const target = targetUrl(posix.join(posix.dirname(fromSource), decodeURI(path)).replace(/\/$/, ""));
      return target && relativeUrl(fromUrl, fragment === undefined ? target : `${target}#${fragment}`);
    },
  };
}

export function isCopied(path: string): boolean {
  return /\.(json|png|jpe?g|svg|gif|webp)$/.test(path);
}

export function urlOfFile(path: string): string {
  return isCopied(path) ? `files/${path}` : `source/${path}.html`;
}
