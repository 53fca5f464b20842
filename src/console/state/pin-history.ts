import { AuditFault, parseTreeHead } from '../../client/verifier.ts';

/** A tree head that this browser accepted. */
export interface PinnedHead {
  readonly size: number;
  /** Root in hexadecimal. */
  readonly root: string;
  /** Time at which the head was pinned, ISO 8601. */
  readonly at: string;
  /** The signed head, in the format of the specification. */
  readonly head: string;
}

/**
 * Number of newest heads that are always kept. Among older heads, the first of each hour is kept, then the first of
 * each day.
 */
const newestKept = 24;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const hoursKeptMs = 2 * dayMs;
const mostKept = 400;

/**
 * Returns the history with one more head, newest first. The first pinned head is kept permanently, because all later
 * heads are checked against it. Between the first and the newest heads, the history is thinned out.
 */
export function withPinned(history: readonly PinnedHead[], next: PinnedHead): PinnedHead[] {
  const all = [next, ...history.filter(({ head }) => head !== next.head)].sort((a, b) => timeOf(b) - timeOf(a));
  const first = all.at(-1)!;
  const now = timeOf(all[0]!);
  const slotOf = (head: PinnedHead): string => {
    const at = timeOf(head);
    return now - at < hoursKeptMs ? `h${Math.floor(at / hourMs)}` : `d${Math.floor(at / dayMs)}`;
  };
  const slots = new Map<string, PinnedHead>();
  for (const head of all.slice(newestKept)) slots.set(slotOf(head), head);
  const kept = new Set([...all.slice(0, newestKept), ...slots.values()]);
  const thinned = all.filter((head) => kept.has(head));
  return thinned.length <= mostKept ? thinned : [...thinned.slice(0, mostKept - 1), first];
}

const timeOf = ({ at }: PinnedHead): number => Date.parse(at);

/** Parses the stored history, omitting malformed entries. */
export function readHistory(text: string | null): PinnedHead[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPinnedHead) : [];
  } catch {
    return [];
  }
}

function isPinnedHead(value: unknown): value is PinnedHead {
  const { size, root, at, head } = Object(value) as Partial<Record<keyof PinnedHead, unknown>>;
  if (typeof root !== 'string' || typeof at !== 'string' || typeof head !== 'string') return false;
  const signed = parseTreeHead(head);
  return !(signed instanceof AuditFault) && signed.size === size && !Number.isNaN(Date.parse(at));
}
