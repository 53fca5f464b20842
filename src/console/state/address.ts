import { type ReadonlySignal, signal } from '@preact/signals';
import { type ConsolePage, consolePages } from '../../contract/console-pages.ts';

/**
 * The URL holds the state of the console: the path is the page, the query is everything else. Opening a shared URL
 * shows the same state.
 */
export interface Place {
  readonly page: ConsolePage;
  readonly params: URLSearchParams;
}

/** Query parameters to set: one value, several values, or undefined to remove the parameter. */
export type Params = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

const current = signal<Place>(read());
export const place: ReadonlySignal<Place> = current;

function read(): Place {
  const name = location.pathname.slice(1);
  const page = consolePages.find((known) => known === name) ?? 'overview';
  return { page, params: new URLSearchParams(location.search) };
}

/** Returns the URL of a page, for links. */
export function href(page: ConsolePage, params: Params = {}): string {
  return address(page, applied(new URLSearchParams(), params));
}

function address(page: ConsolePage, params: URLSearchParams): string {
  const search = params.toString();
  return search === '' ? `/${page}` : `/${page}?${search}`;
}

/** Returns a copy of the parameters with these changes. */
export function applied(params: URLSearchParams, changes: Params): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) next.append(name, String(one));
  }
  return next;
}

/**
 * Validates a URL that came from a parameter. Returns the URL if it is of a console page other than the sign-in page,
 * else the URL of the overview.
 */
export function ownAddress(text: string | null): string {
  const url = text === null ? null : URL.parse(text, location.origin);
  const isOwn = url?.origin === location.origin && text?.startsWith('/') && !text.startsWith('//');
  const page = consolePages.find((known) => url?.pathname === `/${known}`);
  return isOwn && page !== undefined && page !== 'sign-in' ? url.pathname + url.search : href('overview');
}

/**
 * Navigates to a URL of the console, as a link does. `replace` adds no entry to the browser's history.
 */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  current.value = read();
}

/** Changes the query of the current page. Selections and other small steps use `replace`. */
export function setParams(changes: Params, options?: { replace?: boolean }): void {
  const { page, params } = current.peek();
  const next = applied(params, changes);
  if (next.toString() !== params.toString()) go(address(page, next), options);
}

/** Handles clicks on links between console pages without loading the document again. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    current.value = read();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.origin !== location.origin || link.target !== '' || link.download !== '') return;
    // Fragment links are left to the browser.
    if (link.hash !== '' || !consolePages.some((page) => link.pathname === `/${page}`)) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
