import { type Exact, members, parseExact, safeInteger } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import type { LogSource } from './log-source.ts';

/** Items per page, the maximum of the service. */
const perPage = 1000;

/** A page of a list: the attributes of its items. */
export interface ListPage {
  readonly items: readonly (Exact | undefined)[];
  readonly isLast: boolean;
}

/** Fetches a page, counted from 1; `path` may have a query. Returns MALFORMED_LEAF if the response is not a page. */
export async function fetchPage(
  log: LogSource,
  path: string,
  page: number,
  size = perPage,
): Promise<ListPage | AuditFault> {
  const text = await log.get(`${path}${path.includes('?') ? '&' : '?'}page=${page}&per_page=${size}`);
  if (text instanceof AuditFault) return text;
  const fields = members(parseExact(text));
  const pages = safeInteger(members(fields?.pagination)?.total_pages);
  if (!Array.isArray(fields?.data) || pages === undefined)
    return new AuditFault('MALFORMED_LEAF', `${path}: the response is not a page of a list`);
  return { items: fields.data.map((item) => members(item)?.attributes), isLast: page >= pages };
}

/** Fetches all items of a list of at most `maxPages` pages. Returns HTTP_REFUSED for a longer list. */
export async function fetchList(
  log: LogSource,
  path: string,
  maxPages: number,
): Promise<(Exact | undefined)[] | AuditFault> {
  const items: (Exact | undefined)[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const list = await fetchPage(log, path, page);
    if (list instanceof AuditFault) return list;
    items.push(...list.items);
    if (list.isLast) return items;
  }
  return new AuditFault('HTTP_REFUSED', `${path}: the list has more than ${maxPages * perPage} items`);
}
