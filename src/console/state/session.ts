import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { type Client, createClient } from '../../client/client.ts';
import type { SessionTokens } from '../../contract/resources/session.ts';
import { type OperationId, routeOf } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';

/**
 * The tokens of the signed-in user. The tokens are in this browser's storage, so that reloads and other tabs keep the
 * session. A refresh token is valid only once, and using it twice ends the session, so tabs renew tokens one at a time
 * (Web Locks, if available).
 */
interface Tokens {
  readonly access: string;
  /** Expiry of the access token, in epoch milliseconds by this browser's clock. */
  readonly expiresAt: number;
  readonly refresh: string;
  readonly refreshExpiresAt: number;
}

const key = 'candor.session';
/** Lead time of the token renewal before the access token expires, in milliseconds. */
const renewBeforeMs = 60_000;

const tokens = signal<Tokens | undefined>(stored());
/** The reason why the session ended; undefined if the user signed out. */
export const endedBecause = signal<string | undefined>(undefined);
export const signedIn: ReadonlySignal<boolean> = computed(() => tokens.value !== undefined);
/** Expiry of the current access token; it changes when the session is renewed. Undefined while signed out. */
export const tokenEnds: ReadonlySignal<number | undefined> = computed(() => tokens.value?.expiresAt);

function stored(): Tokens | undefined {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isTokens(saved) && saved.refreshExpiresAt > Date.now() ? saved : undefined;
  } catch {
    return undefined;
  }
}

/** Validates stored tokens, because other code may have written to the storage. */
function isTokens(saved: unknown): saved is Tokens {
  if (typeof saved !== 'object' || saved === null) return false;
  const { access, expiresAt, refresh, refreshExpiresAt } = saved as Partial<Record<keyof Tokens, unknown>>;
  return (
    typeof access === 'string' &&
    typeof refresh === 'string' &&
    typeof expiresAt === 'number' &&
    typeof refreshExpiresAt === 'number'
  );
}

function save(next: Tokens | undefined): void {
  try {
    if (next === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // If storage is full or blocked, the session ends with its first access token.
  }
  tokens.value = next;
}

function tokensOf(answer: SessionTokens): Tokens {
  const now = Date.now();
  return {
    access: answer.access_token,
    expiresAt: now + answer.expires_in * 1000,
    refresh: answer.refresh_token,
    refreshExpiresAt: now + answer.refresh_expires_in * 1000,
  };
}

/** A client without credentials: for signing in, renewing, and public operations. */
const open = createClient({ baseUrl: location.origin });

/**
 * Calls `fetch` with the user's token, and renews the token when the service rejects it. While signed out, requests
 * carry no token and reach only public operations.
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

/** Time within which several refusals count as one refusal. A refusal triggers whoAmI, which can be refused as well. */
const forgetRefusalMs = 5000;
/**
 * Time of the service's last refusal of an operation, in epoch milliseconds. The user's permissions may have changed
 * then.
 */
export const refusedAt = signal(0);

/** The client for all calls of the console. */
export const api: Client = createClient({ baseUrl: location.origin, fetch: fetchAsUser });

function withToken(init: RequestInit | undefined, token: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

/**
 * Returns an access token that is not about to expire and is not `refused`.
 *
 * @throws ServiceError UNAUTHENTICATED if the session has ended; UNAVAILABLE if the service could not be
 *   reached
 */
export async function goodToken(refused?: string): Promise<{ token: string; expiresAt: number }> {
  const isUsable = (saved: Tokens | undefined): saved is Tokens =>
    saved !== undefined && saved.access !== refused && saved.expiresAt - Date.now() > renewBeforeMs;
  const saved = tokens.peek();
  if (isUsable(saved)) return { token: saved.access, expiresAt: saved.expiresAt };
  return exclusively(async () => {
    // Another tab may have renewed the tokens while this tab waited.
    const latest = stored();
    if (isUsable(latest)) save(latest);
    else await renew(latest);
    const { access, expiresAt } = tokens.peek()!;
    return { token: access, expiresAt };
  });
}

async function renew(latest: Tokens | undefined): Promise<void> {
  if (latest === undefined) throw endSession('Your session has expired.');
  try {
    const next = tokensOf(await open.call('refresh', { body: { refresh_token: latest.refresh } }));
    // Another tab may have signed out in the meantime. In that case, the renewed tokens are not stored.
    if (stored()?.refresh !== latest.refresh) throw endSession('Your session has expired.');
    save(next);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED')
      throw endSession('Your session has expired.');
    throw error;
  }
}

function endSession(reason: string): ServiceError {
  endedBecause.value = reason;
  save(undefined);
  return new ServiceError('UNAUTHENTICATED', reason);
}

let renewing: Promise<unknown> = Promise.resolve();

/** Runs work exclusively: one at a time, across all tabs if the browser has Web Locks (secure contexts only). */
function exclusively<T>(work: () => Promise<T>): Promise<T> {
  if ('locks' in navigator) return navigator.locks.request(key, work);
  const turn = renewing.then(work, work);
  renewing = turn.catch(() => undefined);
  return turn;
}

/** Signs in. @throws ServiceError from the service; UNAUTHENTICATED for a wrong username or password */
export async function signIn(username: string, password: string): Promise<void> {
  const answer = await open.call('login', { body: { username, password } });
  endedBecause.value = undefined;
  save(tokensOf(answer));
}

/** Ends the session in all tabs, and at the service if it can be reached. */
export async function signOut(): Promise<void> {
  try {
    await api.call('logout');
  } finally {
    endedBecause.value = undefined;
    save(undefined);
  }
}

/** Follows sign-ins and sign-outs in other tabs. */
export function followOtherTabs(): void {
  addEventListener('storage', (event) => {
    if (event.key === key) tokens.value = stored();
  });
}

/** The signed-in user and their permissions, once the service has reported them. */
export const me = signal<
  | {
      readonly id: string;
      readonly name: string;
      readonly roles: readonly string[];
      /** Ids of operations that the user may call. */
      readonly operations: ReadonlySet<string>;
    }
  | undefined
>(undefined);

/**
 * Returns whether the user may call an operation, according to the last report of the service. Before the first report,
 * and while signed out, returns whether the operation is public by default. Only the service decides, because its
 * policy may have changed since.
 */
export function may(operation: OperationId): boolean {
  return me.value?.operations.has(operation) ?? routeOf(operation).access === 'public';
}
