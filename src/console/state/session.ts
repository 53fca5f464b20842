import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { type Client, createClient } from '../../client/client.ts';
import type { SessionTokens } from '../../contract/resources/session.ts';
import { type OperationId, routeOf } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';

/**
 * Who is signed in. The tokens lie in this browser's storage, so that a reload and a second tab go on. A refresh token is
 * good once, and using it twice ends the session, so only one tab at a time renews (Web Locks, where there are any).
 */
interface Tokens {
  readonly access: string;
  /** Epoch milliseconds, of this browser's clock. */
  readonly expiresAt: number;
  readonly refresh: string;
  readonly refreshExpiresAt: number;
}

const key = 'candor.session';
/** A token is renewed this long before its end. */
const renewBeforeMs = 60_000;

const tokens = signal<Tokens | undefined>(stored());
/** Why the session ended, where nobody asked for it. */
export const endedBecause = signal<string | undefined>(undefined);
export const signedIn: ReadonlySignal<boolean> = computed(() => tokens.value !== undefined);
/** Until when the token in use is good; it changes when the session is renewed. Undefined where nobody is signed in. */
export const tokenEnds: ReadonlySignal<number | undefined> = computed(() => tokens.value?.expiresAt);

function stored(): Tokens | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isTokens(kept) && kept.refreshExpiresAt > Date.now() ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever lies in the storage: others may have written there. */
function isTokens(kept: unknown): kept is Tokens {
  if (typeof kept !== 'object' || kept === null) return false;
  const { access, expiresAt, refresh, refreshExpiresAt } = kept as Partial<Record<keyof Tokens, unknown>>;
  return (
    typeof access === 'string' &&
    typeof refresh === 'string' &&
    typeof expiresAt === 'number' &&
    typeof refreshExpiresAt === 'number'
  );
}

function keep(next: Tokens | undefined): void {
  try {
    if (next === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // Storage that is full or blocked keeps nothing: the session ends with its first token.
  }
  tokens.value = next;
}

function asTokens(answer: SessionTokens): Tokens {
  const now = Date.now();
  return {
    access: answer.access_token,
    expiresAt: now + answer.expires_in * 1000,
    refresh: answer.refresh_token,
    refreshExpiresAt: now + answer.refresh_expires_in * 1000,
  };
}

/** Without credentials: for signing in, for renewing, and for what is public. */
const open = createClient({ baseUrl: location.origin });

/**
 * `fetch` with the token of who is signed in, renewed where the service says that it is not good. Where nobody is signed
 * in, without one: what is public is for everybody.
 */
export const fetchAsUser = async (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  if (tokens.peek() === undefined) return fetch(url, init);
  const first = await goodToken();
  let answer = await fetch(url, withToken(init, first.token));
  if (answer.status === 401) {
    const second = await goodToken(first.token);
    answer = await fetch(url, withToken(init, second.token));
  }
  if (answer.status === 403 && Date.now() - refusedAt.peek() > forgetRefusalMs) refusedAt.value = Date.now();
  return answer;
};

/** Refusals that come sooner one after the other are one: asking what one may do can be refused as well. */
const forgetRefusalMs = 5000;
/** When something was refused to who is signed in (epoch milliseconds): who may do what may have changed. */
export const refusedAt = signal(0);

/** Every call of the console. */
export const api: Client = createClient({ baseUrl: location.origin, fetch: fetchAsUser });

function withToken(init: RequestInit | undefined, token: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

/**
 * A token that will be good for a while; another one than `refused`.
 *
 * @throws ServiceError UNAUTHENTICATED where the session is over; UNAVAILABLE where the service could not be asked
 */
export async function goodToken(refused?: string): Promise<{ token: string; expiresAt: number }> {
  const isGood = (kept: Tokens | undefined): kept is Tokens =>
    kept !== undefined && kept.access !== refused && kept.expiresAt - Date.now() > renewBeforeMs;
  const kept = tokens.peek();
  if (isGood(kept)) return { token: kept.access, expiresAt: kept.expiresAt };
  return alone(async () => {
    // Another tab may have renewed while this one waited.
    const latest = stored();
    if (isGood(latest)) keep(latest);
    else await renew(latest);
    const { access, expiresAt } = tokens.peek()!;
    return { token: access, expiresAt };
  });
}

async function renew(latest: Tokens | undefined): Promise<void> {
  if (latest === undefined) throw over('The session is over.');
  try {
    const next = asTokens(await open.call('refresh', { body: { refresh_token: latest.refresh } }));
    // Another tab may have signed out meanwhile.
    if (stored()?.refresh !== latest.refresh) throw over('The session is over.');
    keep(next);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') throw over('The session is over.');
    throw error;
  }
}

function over(reason: string): ServiceError {
  endedBecause.value = reason;
  keep(undefined);
  return new ServiceError('UNAUTHENTICATED', reason);
}

let renewing: Promise<unknown> = Promise.resolve();

/** One at a time, among all tabs where the browser can say so (locks exist in secure contexts only). */
function alone<T>(work: () => Promise<T>): Promise<T> {
  if ('locks' in navigator) return navigator.locks.request(key, work);
  const turn = renewing.then(work, work);
  renewing = turn.catch(() => undefined);
  return turn;
}

/** @throws ServiceError as the service answers; UNAUTHENTICATED for a wrong name or password */
export async function signIn(username: string, password: string): Promise<void> {
  const answer = await open.call('login', { body: { username, password } });
  endedBecause.value = undefined;
  keep(asTokens(answer));
}

/** Ends the session here, in other tabs, and at the service, if that can be reached. */
export async function signOut(): Promise<void> {
  try {
    await api.call('logout');
  } finally {
    endedBecause.value = undefined;
    keep(undefined);
  }
}

/** What another tab does with the session counts here as well. */
export function followOtherTabs(): void {
  addEventListener('storage', (event) => {
    if (event.key === key) tokens.value = stored();
  });
}

/** Who is signed in and what that may do, once the service has said so. */
export const me = signal<
  | {
      readonly id: string;
      readonly name: string;
      readonly roles: readonly string[];
      /** Ids of operations. */
      readonly operations: ReadonlySet<string>;
    }
  | undefined
>(undefined);

/**
 * Whether who is signed in may do an operation, as the service said last; before it did, and where nobody is signed in,
 * whether it is usually for everybody. The service decides: its policy may be another one by now.
 */
export function may(operation: OperationId): boolean {
  return me.value?.operations.has(operation) ?? routeOf(operation).access === 'public';
}
