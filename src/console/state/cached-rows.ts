import type { CallId, ListId } from '../../client/client.ts';
import { answers } from './answers.ts';
import { newer } from './newer.ts';

interface Row {
  readonly id: string;
  readonly attributes: { readonly version: number };
}
interface Page {
  readonly data: readonly Row[];
}
type CachedResponse = { readonly pages: readonly Page[] } | Page | { readonly data: Row } | undefined;

/** The calls that return a resource: in lists, and by the value of a path parameter. */
interface Calls {
  readonly list: ListId;
  readonly one: CallId;
  readonly parameter: string;
}

/** Updates resources in cached responses in place: lists keep their order and scroll position. */
export function putRows({ list, one, parameter }: Calls, rows: ReadonlyMap<string, Row>): void {
  if (rows.size === 0) return;
  const updated = (page: Page): Page =>
    unlessSame(
      page,
      'data',
      page.data.map((row) => newer(row, rows.get(row.id) ?? row)),
    );
  answers.setQueriesData<CachedResponse>({ predicate: ({ queryKey: [name] }) => name === list }, (cached) => {
    if (cached === undefined) return cached;
    if ('pages' in cached) return unlessSame(cached, 'pages', cached.pages.map(updated));
    return Array.isArray(cached.data) ? updated(cached as Page) : cached;
  });
  const idIn = (input: unknown) => (input as { params?: Readonly<Record<string, string>> }).params?.[parameter];
  for (const [id, row] of rows)
    answers.setQueriesData<CachedResponse>(
      { predicate: ({ queryKey: [name, input] }) => name === one && idIn(input) === id },
      (cached) =>
        cached !== undefined && 'data' in cached ? { ...cached, data: newer(cached.data as Row, row) } : cached,
    );
}

/**
 * Returns `whole` itself if all parts are unchanged, so that nothing is rendered again; otherwise returns a copy with
 * the new parts.
 */
function unlessSame<T, K extends keyof T>(whole: T, name: K, parts: readonly unknown[]): T {
  const before = whole[name] as readonly unknown[];
  return parts.every((part, index) => part === before[index]) ? whole : { ...whole, [name]: parts };
}
