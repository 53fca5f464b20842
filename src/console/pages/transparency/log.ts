import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { checkExtension } from '../../../client/consistency.ts';
import { AuditFault, httpLog } from '../../../client/verifier.ts';
import type { SizedRoot } from '../../../tlog/binding.ts';
import { fetchAsUser } from '../../state/session.ts';

/**
 * The log client for the verifier. It returns responses unchanged, because verification needs the exact bytes. Requests
 * carry the user's token for contents that need a role.
 */
export const log = httpLog(location.origin, { fetch: fetchAsUser });

export interface Checked<T> {
  /** The verified value, or the reason why it did not verify; undefined while pending. */
  readonly value: T | AuditFault | undefined;
  readonly again: () => void;
}

/** Runs a check and returns its result. Retries automatically while the log cannot be reached. */
export function useChecked<T>(
  key: readonly unknown[],
  check: () => Promise<T | AuditFault>,
  { enabled = true, keep = false }: { enabled?: boolean; keep?: boolean } = {},
): Checked<T> {
  const { data, refetch }: UseQueryResult<T | AuditFault, Error> = useQuery<T | AuditFault, Error>({
    queryKey: ['transparency', ...key],
    queryFn: check,
    enabled,
    staleTime: keep ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: ({ state }) =>
      state.data instanceof AuditFault && state.data.kind === 'unavailable' ? 5000 : false,
  });
  return { value: data, again: () => void refetch() };
}

/**
 * Checks that two trees of this log are consistent, in either order. Returns an AuditFault if they are not consistent,
 * or if the result is unknown.
 */
export async function sameTree(one: SizedRoot, other: SizedRoot): Promise<true | AuditFault> {
  const [earlier, later] = one.size <= other.size ? [one, other] : [other, one];
  const found = await checkExtension(log, earlier, later);
  if (found === undefined) return true;
  return found instanceof AuditFault ? found : found.fault;
}
