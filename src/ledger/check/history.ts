import { timestampStepNs } from '../../tlog/head.ts';
import type { Regression } from '../journal.ts';
import type { KeyFile } from '../keys/key-file.ts';
import { readHeadRow } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { CheckInput } from './check-input.ts';
import { judgeCheckpointKey } from './checkpoint-key.ts';
import { type HeadLookup, missingHeads } from './expected-heads.ts';
import type { ExternalHead } from './external-heads.ts';
import { Findings } from './findings.ts';
import { readHeads } from './heads.ts';
import { promisedEntries, readKeyHistory } from './key-history.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNamed, numberKey, numbersKey } from './row-keys.ts';

/** Records with which the history is compared. */
interface Outside {
  /** The last head of the history. */
  readonly last: SignedHead | undefined;
  readonly witnesses: readonly ExternalHead[];
  readonly files: readonly KeyFile[];
  readonly regression: Regression | undefined;
}

const indexBytes = 6;

/** Checks that the history has the heads that other records name, and that the checkpoint key is valid. */
export function checkHistory(input: CheckInput, { last, witnesses, files, regression }: Outside): void {
  const { findings } = input;
  const kept = metaText(input, 'checkpoint');
  const history = readKeyHistory((kind) => entriesOf(input, kind), promisedEntries(files));
  const expected = { size: last?.size ?? 0, named: witnesses, kept, history, regression };
  for (const { size, message } of missingHeads(lookup(input), expected)) findings.add('head_missing', message, size);
  const recorded = metaText(input, 'checkpoint_key');
  const verdict = judgeCheckpointKey({ files, history, recorded, kept, lastSigner: last?.keyId });
  if (verdict.kind === 'replaced') findings.add('checkpoint_key_replaced', verdict.why);
}

function lookup(input: CheckInput): HeadLookup {
  const table = input.tables.get('heads');
  return {
    headAt: (size, timestampNs) => {
      const key = numbersKey([size, Number(timestampNs / timestampStepNs)]);
      const row = table && findRow(input.file, table, key);
      return row && readHeadRow(key, row);
    },
    firstHeadOf: (size) => {
      for (const head of readHeads({ ...input, findings: new Findings() }, size, size)) return head;
      return undefined;
    },
  };
}

function metaText({ file, tables }: CheckInput, key: string): string | undefined {
  const meta = tables.get('meta');
  return meta && findRow(file, meta, Buffer.from(key))?.toString();
}

/** Yields readable entries of a kind, by the index of kinds. */
function* entriesOf({ file, tables, onDamage }: CheckInput, kind: string): Generator<Buffer> {
  const [kinds, entries] = [tables.get('kinds'), tables.get('entries')];
  if (kinds === undefined || entries === undefined) return;
  for (const rows = new RowCursor(file, kinds, onDamage, Buffer.from(`${kind}\0`)); rows.next(); ) {
    if (keyNamed(rows.key())?.[0] !== kind) return;
    const indices = rows.value();
    for (let at = 0; at + indexBytes <= indices.length; at += indexBytes) {
      const canonical = findRow(file, entries, numberKey(indices.readUIntBE(at, indexBytes)));
      if (canonical !== undefined) yield canonical;
    }
  }
}
