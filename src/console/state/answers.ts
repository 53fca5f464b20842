import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/preact-query';
import { useMemo, useRef } from 'preact/hooks';
import type { CallId, CallInput, CallResult, ListId, ListInput, ListItem } from '../../client/client.ts';
import { ServiceError } from '../../errors.ts';
import { differsInTimeOnly } from './moving-range.ts';
import { api } from './session.ts';

/** What the service answered, kept while it is shown and a while after. */
export const answers = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the service refuses, it refuses again; what did not arrive is asked for again.
      retry: (failures, error) =>
        failures < 2 && error instanceof ServiceError && error.code === 'UNAVAILABLE',
      refetchOnWindowFocus: true,
      // The service may be on this machine, or in a network that leads nowhere else.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
  },
});

export interface AnswerOptions {
  /** Asked for again this often, in milliseconds, while the page is seen. */
  readonly refreshMs?: number;
  readonly enabled?: boolean;
  /** Asked for again only when it is shown anew, or on demand: what one reads stays in its place. */
  readonly still?: boolean;
  /**
   * Shows the answer to the question before until the new one is there; where that fails and is the same but for its time,
   * also then, with `error` beside it. Default true.
   */
  readonly keepPrevious?: boolean;
}

/** The answer to a call; asked for when it is shown, and given up when it no longer is. */
export function useAnswer<O extends CallId>(
  operation: O,
  input: CallInput<O>,
  { refreshMs, enabled = true, still = false, keepPrevious = true }: AnswerOptions = {},
): UseQueryResult<CallResult<O>, ServiceError> {
  const result = useQuery<CallResult<O>, ServiceError>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, input, signal),
    enabled,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
    ...(still && { refetchOnWindowFocus: false, refetchOnReconnect: false }),
    ...(keepPrevious && { placeholderData: keepPreviousData }),
  });
  const last = useRef<{ readonly input: object; readonly data: CallResult<O> } | undefined>(undefined);
  if (result.data !== undefined) {
    if (!result.isPlaceholderData) last.current = { input, data: result.data };
    return result;
  }
  // A range that ends now is another question every half minute: what was there stays while the service is away.
  const known = keepPrevious && result.error !== null ? last.current : undefined;
  if (known === undefined || !differsInTimeOnly(known.input, input)) return result;
  return { ...result, data: known.data, isPlaceholderData: true } as unknown as typeof result;
}

function call<O extends CallId>(operation: O, input: object, signal?: AbortSignal): Promise<CallResult<O>> {
  return api.call(operation, ...([{ ...input, signal }] as never));
}

/** A list, page after page as it is scrolled. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** Items in all, exactly; undefined until it is known. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly isLoading: boolean;
  readonly error: ServiceError | null;
  /** From its beginning; where only its last page failed, that. */
  readonly refetch: () => void;
  readonly result: UseInfiniteQueryResult<unknown, ServiceError>;
}

const pageSize = 200;
/** Pages after the first, which is to be there soon. */
const nextPageSize = 1000;
/** A list of more pages is read again only when that is asked for: it is pages that were scrolled through. */
const refreshedPages = 5;
const isShort = (query: { state: { data: unknown } }): boolean =>
  ((query.state.data as { pages: unknown[] } | undefined)?.pages.length ?? 0) <= refreshedPages;

interface Page {
  readonly data: readonly unknown[];
  readonly pagination: { readonly total: number; readonly next_cursor?: string };
}

const none: readonly Page[] = [];

export function useList<O extends ListId>(
  operation: O,
  input: ListInput<O>,
  { refreshMs, enabled = true, still = false }: Omit<AnswerOptions, 'keepPrevious'> = {},
): Listed<ListItem<O>> {
  const { query, ...rest } = input as { query?: object };
  const queryKey = [operation, input, 'list'];
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call(
        operation,
        {
          ...rest,
          query: {
            ...query,
            ...(pageParam === '' ? { per_page: pageSize } : { per_page: nextPageSize, cursor: pageParam }),
          },
        },
        signal,
      ) as Promise<unknown> as Promise<Page>,
    initialPageParam: '',
    getNextPageParam: (last: Page) => last.pagination.next_cursor,
    placeholderData: keepPreviousData,
    // Rows are many, and seldom the same as before.
    structuralSharing: false,
    enabled,
    refetchOnMount: isShort,
    refetchOnWindowFocus: still ? false : isShort,
    refetchOnReconnect: still ? false : isShort,
    ...(refreshMs !== undefined && {
      refetchInterval: (asked: { state: { data: unknown } }) => isShort(asked) && refreshMs,
    }),
  });
  const pages = result.data?.pages ?? none;
  const rows = useMemo(() => pages.flatMap(({ data }) => data) as ListItem<O>[], [pages]);
  return {
    rows,
    total: pages[0]?.pagination.total,
    hasMore: result.hasNextPage,
    more: () => {
      if (result.hasNextPage && !result.isFetchingNextPage) void result.fetchNextPage();
    },
    isLoading: result.isPending && enabled,
    error: result.error as ServiceError | null,
    refetch: () => {
      if (result.isFetchNextPageError) return void result.fetchNextPage();
      answers.setQueryData<InfiniteData<Page, string>>(queryKey, (known) => known && onlyFirst(known));
      void result.refetch();
    },
    result: result as UseInfiniteQueryResult<unknown, ServiceError>,
  };
}

const onlyFirst = ({ pages, pageParams }: InfiniteData<Page, string>): InfiniteData<Page, string> => ({
  pages: pages.slice(0, 1),
  pageParams: pageParams.slice(0, 1),
});

/** Does something at the service; what it may have changed is asked for again. */
export async function change<O extends CallId>(
  operation: O,
  input: CallInput<O>,
  changed: readonly CallId[],
): Promise<CallResult<O>> {
  const answer = await call(operation, input);
  await again(changed);
  return answer;
}

/** Asks for the answers of these operations again, where they are shown. */
export async function again(operations: readonly CallId[]): Promise<void> {
  await answers.invalidateQueries({
    predicate: ({ queryKey }) => operations.some((operation) => operation === queryKey[0]),
  });
}
