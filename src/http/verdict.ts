import type { Status } from '../contract/resources/status.ts';

/** What a verdict goes by. */
interface Judged {
  readonly ready: boolean;
  readonly ledger: Pick<Status['ledger'], 'state'> & { readonly findings: readonly unknown[] };
  readonly warnings: readonly string[];
  readonly limits_reached: Reached;
}

type Reached = readonly Readonly<Pick<Status['limits_reached'][number], 'limit' | 'times'>>[];

/** As many limits are named. */
const maxNamed = 3;

/** How the service is, in words. A limit that was reached is told, and is no illness: it did what it is for. */
export function verdictOf({ ready, ledger, warnings, limits_reached }: Judged): Status['verdict'] {
  const text =
    ledger.state !== 'ok'
      ? 'The transparency log takes no entries.'
      : !ready
        ? 'The service is starting or stopping.'
        : warnings.length > 0 || ledger.findings.length > 0
          ? 'Something needs to be looked at.'
          : undefined;
  return {
    well: text === undefined,
    text: text ?? 'Everything is as it should be.',
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
