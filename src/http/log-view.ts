import type { LogView } from '../ledger/ledger.ts';
import { isAllowed } from './caller.ts';
import type { Authenticated } from './endpoint.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

/** The parts of a request that decide how much of the log it may read. */
export interface LogRead {
  readonly services: Pick<Services, 'auth' | 'config' | 'logRate' | 'policy'>;
  readonly head: RequestHead;
  readonly identity: Authenticated | undefined;
  readonly remoteAddress: string;
}

/**
 * Returns which tree head a request reads: the current head for callers with read access to entries, the
 * published head for all other callers. Without a publication delay, both heads are equal, and credentials
 * sent to a public operation are not read.
 *
 * @throws RATE_LIMITED if unauthenticated requests from the address are too frequent
 */
export async function logView(read: LogRead): Promise<LogView> {
  const { config, logRate, policy } = read.services;
  const isDelayed = config['ledger.publication_delay_ms'] > 0;
  const identity = isDelayed ? await shownIdentity(read) : read.identity;
  if (identity === undefined) logRate?.take(read.remoteAddress, performance.now());
  if (!isDelayed) return 'current';
  return identity !== undefined && isAllowed(policy.accessOf('listEntries'), identity) ? 'current' : 'published';
}

/** Returns the identity of a request, even if the operation is public; undefined without valid credentials. */
export async function shownIdentity({
  services,
  head,
  identity,
}: Pick<LogRead, 'services' | 'head' | 'identity'>): Promise<Authenticated | undefined> {
  const authorization = head.headers.get('authorization');
  if (identity !== undefined || authorization === undefined) return identity;
  try {
    return await services.auth.authenticate({ authorization }, Date.now());
  } catch {
    // Invalid credentials are treated like missing credentials, because the operation is public.
    return undefined;
  }
}
