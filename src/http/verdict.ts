import type { Status } from '../contract/resources/status.ts';

/** The input of a verdict. */
interface VerdictInput {
  readonly ready: boolean;
  readonly ledger: Pick<Status['ledger'], 'state'> & { readonly findings: readonly unknown[] };
  readonly warnings: readonly string[];
  readonly limits_reached: Reached;
}

type Reached = readonly Readonly<Pick<Status['limits_reached'][number], 'limit' | 'times'>>[];

/** Maximum number of limits named in a verdict. */
const maxNamed = 3;

/**
 * Returns the state of the service in words. Reached limits are listed, but do not make the service faulty.
 */
export function verdictOf({ ready, ledger, warnings, limits_reached }: VerdictInput): Status['verdict'] {
  const text =
    ledger.state !== 'ok'
      ? 'The transparency log accepts no entries.'
      : !ready
        ? 'The service is starting or stopping.'
        : warnings.length > 0 || ledger.findings.length > 0
          ? 'Needs attention.'
          : undefined;
  return {
    well: text === undefined,
    text: text ?? 'Healthy.',
    ...(limits_reached.length === 0 ? {} : { limits: inWords(limits_reached) }),
  };
}

function inWords(reached: Reached): string {
  const most = reached.toSorted((a, b) => b.times - a.times);
  const named = most.slice(0, maxNamed).map(({ limit, times }) => `${limit} ${timesOf(times)}`);
  const rest = most.length - named.length;
  const parts = rest === 0 ? named : [...named, `${rest} more`];
  const last = parts.pop();
  const list = parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
  const count = most.length === 1 ? 'one limit was' : `${most.length} limits were`;
  return `Since the start ${count} reached: ${list}.`;
}

const timesOf = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${times.toLocaleString('en-US')} times`;
