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

/** Cache of the service's responses. */
export const answers = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only UNAVAILABLE is retried, such as a lost connection: most other errors would occur again.
      retry: (failures, error) => failures < 2 && error instanceof ServiceError && error.code === 'UNAVAILABLE',
      refetchOnWindowFocus: true,
      // The service may be on this machine, or in a network without Internet access.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
  },
});

export interface AnswerOptions {
  /** Refetch interval in milliseconds, while the page is visible. */
  readonly refreshMs?: number;
  readonly enabled?: boolean;
  /** Whether to refetch only on mount or on demand, so that rows do not move while the user reads them. */
  readonly still?: boolean;
  /**
   * Whether to show the previous response until the new response arrives. If the new request fails and differs from the
   * previous request only in its time range, the previous response stays, together with `error`. Default true.
   */
  readonly keepPrevious?: boolean;
}

/** Calls an operation while the component is mounted, and aborts the request when it unmounts. */
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
  // A range that ends now changes every 30 s, so the last response is kept while the service is unreachable.
  const known = keepPrevious && result.error !== null ? last.current : undefined;
  if (known === undefined || !differsInTimeOnly(known.input, input)) return result;
  return { ...result, data: known.data, isPlaceholderData: true } as unknown as typeof result;
}

function call<O extends CallId>(operation: O, input: object, signal?: AbortSignal): Promise<CallResult<O>> {
  return api.call(operation, ...([{ ...input, signal }] as never));
}

/** A list that loads further pages as the user scrolls. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** Exact count of all items; undefined until it is known. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly isLoading: boolean;
  readonly error: ServiceError | null;
  /** Refetches the list from its first page. If fetching a further page failed, fetches only that page. */
  readonly refetch: () => void;
  readonly result: UseInfiniteQueryResult<unknown, ServiceError>;
}

const pageSize = 200;
/** Size of later pages; the first page is smaller so that it arrives sooner. */
const nextPageSize = 1000;
/**
 * Maximum pages for automatic refetching. Longer lists are refetched on demand only, because every page that was
 * scrolled through would be requested.
 */
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
    // Rows rarely stay the same, so comparing many rows is wasted work.
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

/** Returns the header that makes the service reject a change if the resource has changed since it was read. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };

/** Calls an operation that changes something, then refetches the operations named in `changed`. */
export async function change<O extends CallId>(
  operation: O,
  input: CallInput<O>,
  changed: readonly CallId[],
): Promise<CallResult<O>> {
  const answer = await call(operation, input);
  await again(changed);
  return answer;
}

/**
 * Refetches the responses of these operations where they are shown.
 *
 * @param except - operation whose results of `useList` are not refetched, so that their rows do not move
 */
export async function again(operations: readonly CallId[], { except }: { except?: ListId } = {}): Promise<void> {
  await answers.invalidateQueries({
    predicate: ({ queryKey: [name, , kind] }) =>
      operations.some((operation) => operation === name) && !(name === except && kind === 'list'),
  });
}
