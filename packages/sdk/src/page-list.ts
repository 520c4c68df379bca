import type { Pagination } from "./generated-schemas.ts";

/** One page of a list. */
export interface Page<Item, P extends Pagination = Pagination> {
  readonly data: Item[];
  readonly pagination: P;
}

interface PageQuery {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
}

/** As large as pages get, where the caller left it open: fewer requests. */
const mostOnPage = 100;

/** What tells one item from another; nothing for items without a name of their own, such as log entries. */
function identityOf(item: unknown): unknown {
  const { id, request_id } = item as { id?: unknown; request_id?: unknown };
  return id ?? request_id;
}

/** Where the next page begins; undefined after the last. A cursor is surer than an offset: what is added meanwhile does not move it. */
function nextQuery({ data, pagination }: Page<unknown>): PageQuery | undefined {
  if (!pagination.has_more || data.length === 0) return undefined;
  const { next_cursor } = pagination as { next_cursor?: string | null };
  return next_cursor ? { cursor: next_cursor, offset: undefined } : { offset: pagination.offset + data.length };
}

/**
 * A list. Await it for one page, or walk over it for all items of all pages, which are fetched as you get there.
 *
 * @example
 * ```ts
 * const { data, pagination } = await perch.agents.list({ limit: 10 });
 * for await (const agent of perch.agents.list()) console.log(agent.name);
 * ```
 */
export class PageList<Item, P extends Pagination = Pagination>
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

  /** The one page that the query asks for. */
  page(): Promise<Page<Item, P>> {
    this.#first ??= this.#fetchPage({});
    return this.#first;
  }

  /** The same as `page()`, so that the list can be awaited. */
  // biome-ignore lint/suspicious/noThenProperty: awaiting a list for its page is what it is for.
  then<A = Page<Item, P>, B = never>(
    onPage?: ((page: Page<Item, P>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.page().then(onPage, onError);
  }

  /** Page after page, from the one that the query asks for. Pages hold 100 items unless the query says otherwise. */
  async *pages(): AsyncGenerator<Page<Item, P>, void> {
    let query: PageQuery | undefined = { limit: this.#query.limit ?? mostOnPage };
    while (query) {
      const page: Page<Item, P> = await this.#fetchPage(query);
      yield page;
      const next = nextQuery(page);
      query = next && { limit: query.limit, ...next };
    }
  }

  /** Item after item. One that slid to the next page, because something was added meanwhile, comes once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let before = new Set<unknown>();
    for await (const { data } of this.pages()) {
      for (const item of data) if (!before.has(identityOf(item))) yield item;
      before = new Set(data.map(identityOf).filter((identity) => identity !== undefined));
    }
  }

  /** All items. Use it before you delete what you list: a list that shrinks under a walk skips items. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
