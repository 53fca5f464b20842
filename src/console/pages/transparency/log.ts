import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { checkExtension } from '../../../client/consistency.ts';
import { Fault, httpLog } from '../../../client/verifier.ts';
import type { SizedRoot } from '../../../tlog/binding.ts';
import { fetchAsUser } from '../../state/session.ts';

/**
 * The log as the verifier asks it: answers as they were sent, because bytes are verified and not what a parser made of
 * them. Who is signed in also gets what needs a role.
 */
export const log = httpLog(location.origin, { fetch: fetchAsUser });

export interface Checked<T> {
  /** What verified, or why it did not; undefined until it is known. */
  readonly value: T | Fault | undefined;
  readonly again: () => void;
}

/** What a check finds. Where the log could not be asked, it is asked again by itself. */
export function useChecked<T>(
  key: readonly unknown[],
  check: () => Promise<T | Fault>,
  { enabled = true, keep = false }: { enabled?: boolean; keep?: boolean } = {},
): Checked<T> {
  const { data, refetch }: UseQueryResult<T | Fault, Error> = useQuery<T | Fault, Error>({
    queryKey: ['transparency', ...key],
    queryFn: check,
    enabled,
    staleTime: keep ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: ({ state }) =>
      state.data instanceof Fault && state.data.kind === 'unavailable' ? 5000 : false,
  });
  return { value: data, again: () => void refetch() };
}

/** Whether two trees of this log are one that grew, whichever is the larger: a Fault if not, or if that is unknown. */
export async function sameTree(one: SizedRoot, other: SizedRoot): Promise<true | Fault> {
  const [earlier, later] = one.size <= other.size ? [one, other] : [other, one];
  const found = await checkExtension(log, earlier, later);
  if (found === undefined) return true;
  return found instanceof Fault ? found : found.fault;
}
