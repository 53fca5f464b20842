import type { KeyFile } from '../keys/key-file.ts';
import type { UnsignedEntry } from '../ledger.ts';

/** The data about keys, from entries of the log, that start-up and fsck need. */
export interface KeyHistory {
  /** Retired tree-head keys with the size of the largest tree whose head each signed. */
  readonly retired: readonly { readonly kid: string; readonly toSize: number }[];
  /** Revoked checkpoint keys, and the kid of the key that replaced each. */
  readonly replaced: ReadonlyMap<string, string>;
  /** The first checkpoint key of each life of the log, by kid. */
  readonly begun: ReadonlySet<string>;
  /** Sizes that earlier lives signed and the log abandoned: sizes above `after`, up to `to`. */
  readonly lost: readonly { readonly after: number; readonly to: number }[];
}

/** The relevant members of `log.life_started`. */
interface LifeStarted {
  readonly continues_from?: { readonly tree_size: number };
  readonly previous?: { readonly head?: { readonly tree_size: number } };
}

type KeyEntry = Pick<UnsignedEntry, 'kind' | 'subject' | 'data'>;

/**
 * Reads the key history.
 *
 * @param entriesOf - canonical bytes of the log's entries of a kind
 * @param promised - entries that key files hold and the log may lack
 */
export function readKeyHistory(
  entriesOf: (kind: string) => Iterable<Uint8Array>,
  promised: readonly UnsignedEntry[],
): KeyHistory {
  const [retired, replaced, begun] = [
    [] as { kid: string; toSize: number }[],
    new Map<string, string>(),
    new Set<string>(),
  ];
  for (const { subject, data } of parsed(entriesOf('key.retired')))
    if (data.purpose === 'transparency-sth' && Number.isSafeInteger(data.to_size))
      retired.push({ kid: subject.id, toSize: data.to_size as number });
  const revocations = [...parsed(entriesOf('key.revoked')), ...promised.filter(({ kind }) => kind === 'key.revoked')];
  for (const { subject, data } of revocations)
    if (data.purpose === 'checkpoint' && typeof data.replaced_by === 'string')
      replaced.set(subject.id, data.replaced_by);
  const lost: { after: number; to: number }[] = [];
  for (const { data } of parsed(entriesOf('log.life_started'))) {
    const { continues_from: from, previous } = data as LifeStarted;
    lost.push({ after: from?.tree_size ?? 0, to: previous?.head?.tree_size ?? Number.POSITIVE_INFINITY });
    for (const key of Array.isArray(data.keys) ? data.keys : [])
      if (key?.purpose === 'checkpoint') begun.add(String(key.kid));
  }
  return { retired, replaced, begun, lost };
}

/** Returns the entries that key files hold until the log has them. */
export function promisedEntries(files: readonly KeyFile[]): UnsignedEntry[] {
  return files.flatMap(({ svc_entries: owed = [], svc_ending: ending }) =>
    ending === undefined ? owed : [...owed, ending.entry],
  );
}

/** Skips malformed entries, which fsck reports. */
function* parsed(entries: Iterable<Uint8Array>): Generator<KeyEntry> {
  for (const canonical of entries) {
    try {
      const entry = JSON.parse(new TextDecoder().decode(canonical)) as KeyEntry;
      if (typeof entry.subject.id === 'string' && typeof entry.data === 'object' && entry.data !== null) yield entry;
    } catch {}
  }
}
