import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import type { ListItem } from '../../../client/client.ts';
import type { ServiceError } from '../../../errors.ts';
import { type Listed, useAnswer } from '../../state/answers.ts';
import { api } from '../../state/session.ts';

/** Lists that only grow. The service returns them oldest first. */
export type GrowingList = 'listEntries' | 'listTreeHeads';

export interface LastPage<O extends GrowingList> {
  /** The loaded rows, newest first. */
  readonly rows: readonly ListItem<O>[];
  readonly page: number;
  readonly total: number;
}

type Query = Readonly<Record<string, unknown>>;

/**
 * Fetches one page of the list, counted from its beginning. `last` fetches the first page to get the number of pages,
 * then the last page.
 */
export async function pageOf<O extends GrowingList>(
  operation: O,
  query: Query,
  perPage: number,
  page: number | 'last',
  signal?: AbortSignal,
): Promise<LastPage<O>> {
  const ask = async (number: number): Promise<LastPage<O> & { pages: number }> => {
    const input = { query: { ...query, page: number, per_page: perPage }, ...(signal && { signal }) };
    const { data, pagination } = await api.call<GrowingList>(operation, input);
    const rows = [...data].reverse() as unknown as ListItem<O>[];
    return { rows, page: number, total: pagination.total, pages: pagination.total_pages };
  };
  if (page !== 'last') return ask(page);
  const first = await ask(1);
  return first.pages > 1 ? ask(first.pages) : first;
}

const perPage = 200;
const pollMs = 5000;

export interface NewestFirst<Row> extends Listed<Row> {
  /** Number of rows added since the list was fetched. */
  readonly news: number;
}

/**
 * Returns a list that only grows, newest rows first, loading older rows on scroll. Rows added later are counted and
 * shown on demand (`refetch`).
 */
export function useNewestFirst<O extends GrowingList>(
  operation: O,
  query: Query,
  { enabled = true }: { enabled?: boolean } = {},
): NewestFirst<ListItem<O>> {
  const result = useInfiniteQuery({
    queryKey: [operation, query, 'newest'],
    queryFn: ({ pageParam, signal }) => pageOf(operation, query, perPage, pageParam, signal),
    initialPageParam: 'last' as number | 'last',
    getNextPageParam: ({ page }: LastPage<O>) => (page > 1 ? page - 1 : undefined),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    enabled,
  });
  const latest = useAnswer<GrowingList>(
    operation,
    { query: { ...query, per_page: 1 } },
    { refreshMs: pollMs, enabled },
  );
  const pages = result.data?.pages ?? [];
  const total = pages[0]?.total;
  const now = latest.data?.pagination.total ?? 0;
  return {
    rows: pages.flatMap(({ rows }) => rows),
    total,
    news: total === undefined || latest.isPlaceholderData ? 0 : Math.max(0, now - total),
    hasMore: result.hasNextPage,
    more: () => {
      if (result.hasNextPage && !result.isFetchingNextPage) void result.fetchNextPage();
    },
    isLoading: result.isPending && enabled,
    error: result.error as ServiceError | null,
    refetch: () => void result.refetch(),
    result: result as never,
  };
}
