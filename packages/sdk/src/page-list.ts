import type { Pagination } from "./generated-schemas.ts";

/** The pagination fields of every list, including lists that are not counted. */
export interface PagePosition {
  readonly limit: number;
  readonly has_more: boolean;
  readonly next_cursor?: string | null;
}

/** One page of a list. */
export interface Page<Item, P extends PagePosition = Pagination> {
  readonly data: Item[];
  readonly pagination: P;
}

interface PageQuery {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The largest page, to make fewer requests. */
const defaultPageSize = 100;

/** The item's id; undefined for items without one, such as log entries. */
function identityOf(item: unknown): unknown {
  const { id, request_id } = item as { id?: unknown; request_id?: unknown };
  return id ?? request_id;
}

/** Query of the next page; undefined after the last. Prefers a cursor: new items do not move it, as they move an offset. */
function nextQuery({ data, pagination }: Page<unknown, PagePosition>): PageQuery | undefined {
  const { has_more, next_cursor, offset = 0 } = pagination as PagePosition & { offset?: number };
  if (!has_more) return undefined;
  // A page can be empty if a search stopped early; its cursor continues the search.
  if (next_cursor) return { cursor: next_cursor, offset: undefined };
  return data.length === 0 ? undefined : { offset: offset + data.length };
}

/**
 * A list. Await it for one page, or iterate over it for the items of all pages, which are fetched as needed.
 *
 * @example
 * ```ts
 * const { data, pagination } = await perch.agents.list({ limit: 10 });
 * for await (const agent of perch.agents.list()) console.log(agent.name);
 * ```
 */
export class PageList<Item, P extends PagePosition = Pagination>
  implements AsyncIterable<Item>, PromiseLike<Page<Item, P>>
{
  readonly #fetchPage: (query: PageQuery) => Promise<Page<Item, P>>;
  readonly #query: PageQuery;
  #first: Promise<Page<Item, P>> | undefined;

  /** @internal */
  constructor(fetchPage: (query: PageQuery) => Promise<Page<Item, P>>, query: PageQuery) {
    this.#fetchPage = fetchPage;
    this.#query = query;
  }

  /** Fetches the page that the query selects. */
  page(): Promise<Page<Item, P>> {
    this.#first ??= this.#fetchPage({});
    return this.#first;
  }

  /** Same as `page()`, so that the list can be awaited. */
  // biome-ignore lint/suspicious/noThenProperty: awaiting a list for its page is what it is for.
  then<A = Page<Item, P>, B = never>(
    onPage?: ((page: Page<Item, P>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.page().then(onPage, onError);
  }

  /** All pages, starting with the one that the query selects. A page has 100 items unless the query has a `limit`. */
  async *pages(): AsyncGenerator<Page<Item, P>, void> {
    let query: PageQuery | undefined = { limit: this.#query.limit ?? defaultPageSize };
    while (query) {
      const page: Page<Item, P> = await this.#fetchPage(query);
      yield page;
      const next = nextQuery(page);
      query = next && { limit: query.limit, ...next };
    }
  }

  /** All items. An item that moves to the next page, because another was added meanwhile, is returned once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let before = new Set<unknown>();
    for await (const { data } of this.pages()) {
      for (const item of data) if (!before.has(identityOf(item))) yield item;
      before = new Set(data.map(identityOf).filter((identity) => identity !== undefined));
    }
  }

  /** All items as an array. Use it if you delete items in a loop: iterating over a shrinking list skips items. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
