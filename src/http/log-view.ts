import type { LogView } from '../ledger/ledger.ts';
import { isAllowed } from './access.ts';
import type { Identity } from './endpoint.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

/** The parts of a request that decide how much of the log it may read. */
export interface LogRead {
  readonly services: Pick<Services, 'auth' | 'config' | 'logRate' | 'policy'>;
  readonly head: RequestHead;
  readonly identity: Identity | undefined;
  readonly remoteAddress: string;
}

/**
 * As of which head a request reads the log: the current one for callers who may read entries, the published one for
 * everybody else. Without a publication delay the two are the same, and credentials sent to a public operation are not
 * read.
 *
 * @throws RATE_LIMITED where an address without an identity reads too often
 */
export async function logView(read: LogRead): Promise<LogView> {
  const { config, logRate, policy } = read.services;
  const isDelayed = config['ledger.publication_delay_ms'] > 0;
  const identity = isDelayed ? await shownIdentity(read) : read.identity;
  if (identity === undefined) logRate?.take(read.remoteAddress, performance.now());
  if (!isDelayed) return 'current';
  return identity !== undefined && isAllowed(policy.accessOf('listEntries'), identity)
    ? 'current'
    : 'published';
}

/** The identity behind a request, also at an operation that is public and needs none. */
export async function shownIdentity({
  services,
  head,
  identity,
}: Pick<LogRead, 'services' | 'head' | 'identity'>): Promise<Identity | undefined> {
  const authorization = head.headers.get('authorization');
  if (identity !== undefined || authorization === undefined) return identity;
  try {
    return await services.auth.authenticate({ authorization }, Date.now());
  } catch {
    return undefined; // as without credentials: the operation is public
  }
}
