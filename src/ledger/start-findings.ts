import { judgeCheckpointKey } from './check/checkpoint-key.ts';
import { missingHeads } from './check/expected-heads.ts';
import { type KeyHistory, promisedEntries, readKeyHistory } from './check/key-history.ts';
import { orCorrupt } from './distrust.ts';
import { headJudge } from './heads.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { OpenFindings } from './open-findings.ts';
import type { ExternalRecords } from './startup.ts';
import { DamagedError, type LedgerStorage } from './storage/storage.ts';

interface Trusted {
  readonly storage: LedgerStorage;
  readonly keys: KeyRing;
  readonly findings: OpenFindings;
}

/**
 * Raises a finding if a head was removed from the history of a log that is otherwise trusted.
 *
 * @throws UntrustedLogError if the database is damaged
 */
export function raiseHeadFindings(log: Trusted, { anchor, journal }: ExternalRecords): void {
  orCorrupt(() => {
    const { storage, keys, findings } = log;
    const named = journal.heads.map((head) => ({ head, source: 'the journal' }));
    if (anchor.kind === 'head' && headJudge(keys).isCurrent(anchor.head))
      named.push({ head: anchor.head, source: 'the anchor' });
    const { numbered, heads } = storage.headCounts();
    const lost = [
      ...(numbered === heads ? [] : [`${numbered} heads were signed, and ${heads} are in the history`]),
      ...Array.from(
        missingHeads(storage, {
          ...{ size: storage.latestHead()?.size ?? 0, named, kept: storage.keptCheckpoint() },
          ...{ history: keyHistory(log), regression: journal.regression },
        }),
        ({ message }) => message,
      ),
    ];
    if (lost.length > 0) findings.raise('head_missing', `${lost.slice(0, 3).join('; ')}: run \`candor fsck\``);
  });
}

/** Returns whether the active checkpoint key differs from the key recorded in ledger.mdb. */
export function isCheckpointKeyNew({ storage, keys }: Trusted): boolean {
  return keys.active('checkpoint')?.kid !== storage.checkpointKey();
}

/**
 * Checks the active checkpoint key, and records it once an entry of the log explains it. @throws DamagedError
 */
export function watchCheckpointKey(log: Trusted): void {
  const { storage, keys, findings } = log;
  const recorded = storage.checkpointKey();
  const verdict = judgeCheckpointKey({
    ...{ files: keys.files, history: keyHistory(log) },
    ...{ recorded, kept: storage.keptCheckpoint(), lastSigner: storage.latestHead()?.keyId },
  });
  if (verdict.kind === 'replaced')
    findings.raise(
      'checkpoint_key_replaced',
      `${verdict.why}; compare it with the key that witnesses and auditors know`,
    );
  if (verdict.kind !== 'right') return;
  findings.clear('checkpoint_key_replaced');
  if (verdict.kid !== recorded) storage.recordCheckpointKey(verdict.kid);
}

function keyHistory({ storage, keys }: Trusted): KeyHistory {
  const { kinds } = storage;
  const entriesOf = (kind: string) =>
    kinds.range(kind, 0, kinds.count(kind)).map((index) => {
      const canonical = storage.canonical(index);
      if (canonical === undefined) throw new DamagedError(`entry ${index} is missing`);
      return canonical;
    });
  return readKeyHistory(entriesOf, promisedEntries(keys.files));
}
