import { type ReadonlySignal, signal } from '@preact/signals';
import { type ConsolePage, consolePages } from '../../contract/console-pages.ts';

/**
 * The address bar is the state of the console: the page is the path, and everything else stands in the query. Who is
 * sent an address sees what its sender saw.
 */
export interface Place {
  readonly page: ConsolePage;
  readonly params: URLSearchParams;
}

/** A name with one value, several, or none (undefined takes it away). */
export type Params = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

const current = signal<Place>(read());
export const place: ReadonlySignal<Place> = current;

function read(): Place {
  const name = location.pathname.slice(1);
  const page = consolePages.find((known) => known === name) ?? 'overview';
  return { page, params: new URLSearchParams(location.search) };
}

/** The address of a page, to be linked to. */
export function href(page: ConsolePage, params: Params = {}): string {
  return address(page, applied(new URLSearchParams(), params));
}

function address(page: ConsolePage, params: URLSearchParams): string {
  const search = params.toString();
  return search === '' ? `/${page}` : `/${page}?${search}`;
}

/** A copy with these changes. */
export function applied(params: URLSearchParams, changes: Params): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) next.append(name, String(one));
  }
  return next;
}

/** An address that somebody wrote into another one: only a page of the console, and none that signs in, is gone to. */
export function ownAddress(text: string | null): string {
  const url = text === null ? null : URL.parse(text, location.origin);
  const isOwn = url?.origin === location.origin && text?.startsWith('/') && !text.startsWith('//');
  const page = consolePages.find((known) => url?.pathname === `/${known}`);
  return isOwn && page !== undefined && page !== 'sign-in' ? url.pathname + url.search : href('overview');
}

/** Goes to an address of the console, as a link does. `replace` leaves no way back to where one was. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  current.value = read();
}

/** Changes the query of the page that is shown. Selections and other small steps `replace`. */
export function setParams(changes: Params, options?: { replace?: boolean }): void {
  const { page, params } = current.peek();
  const next = applied(params, changes);
  if (next.toString() !== params.toString()) go(address(page, next), options);
}

/** Links between pages load nothing: what is clicked is looked at here first. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    current.value = read();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.origin !== location.origin || link.target !== '' || link.download !== '')
      return;
    // A place on the page itself is the browser's to go to.
    if (link.hash !== '' || !consolePages.some((page) => link.pathname === `/${page}`)) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
