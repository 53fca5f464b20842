/**
 * A proof bundle is altered, or mixed from two entries or two logs. The console shows which part of the leaf's proof
 * fails; `candor verify` rejects the file with the log's keys. Neither accuses the log.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseBundleProofs, verifyBundleProofs } from '../../src/client/bundle-proofs.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { type KeySet, parseKeySet } from '../../src/client/key-set.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';
import { exitCodeOf } from '../../src/service/exit-codes.ts';
import { editedEntry } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { consoleOf, rowsOf } from './parties.ts';

interface BundleFile {
  leaf_index: number;
  canonical: string;
  leaf_hash?: string;
  audit_path: string[];
  /** The head as text, because its time exceeds the precision of JSON.parse. */
  head: string;
  tlog_proof?: string;
  checkpoint_published?: boolean;
  checkpoint_consistency?: string[];
  timestamps?: { not_before: unknown[]; not_after: unknown[] };
  keys: unknown;
}

let log: ServedLog;
let keys: KeySet;
/** The bundle that is altered, a bundle of another entry, and a bundle of another log. */
let bundles: Readonly<Record<'own' | 'second' | 'other', string>>;
let smaller: string;

const fetched = async ({ url }: ServedLog, path: string) => (await fetch(url + path)).text();
const bundleOf = (served: ServedLog, index: number) => fetched(served, `/api/transparency/proof?leaf_index=${index}`);

beforeAll(async () => {
  log = await ServedLog.start();
  await log.append(2);
  smaller = await fetched(log, '/checkpoint');
  await log.append(5);
  const other = await ServedLog.start();
  await other.append(7);
  keys = parseKeySet(await fetched(log, '/.well-known/jwks.json')) as KeySet;
  bundles = { own: await bundleOf(log, 3), second: await bundleOf(log, 4), other: await bundleOf(other, 3) };
  await other.close();
});
afterAll(() => log.close());

function read(text: string): BundleFile {
  const [, head] = /"head":(\{[^}]*\})/.exec(text)!;
  return { ...(JSON.parse(text) as BundleFile), head: head! };
}
const written = ({ head, ...rest }: BundleFile): string => `{"head":${head},${JSON.stringify(rest).slice(1)}`;

const edited = (file: BundleFile, signAgain: boolean): void => {
  const canonical = Buffer.from(file.canonical, 'base64');
  const change = (entry: Record<string, unknown>) => Object.assign(entry, { actor: 'mallory' });
  delete file.leaf_hash;
  file.canonical = Buffer.from(editedEntry(log.folder, canonical, change, signAgain)).toString('base64');
};

type Lie = (file: BundleFile, second: BundleFile, other: BundleFile) => unknown;

const lies: Record<string, Lie> = {
  nothing: () => {},
  'no checkpoint, as in earlier versions': (file) => {
    delete file.tlog_proof;
    delete file.timestamps;
  },
  'entry edited': (file) => edited(file, false),
  'entry edited and signed by the event key': (file) => edited(file, true),
  'another position': (file) => file.leaf_index++,
  'path of another entry': (file, { audit_path }) => Object.assign(file, { audit_path }),
  'head with another time': (file) => {
    file.head = file.head.replace(/(?<="timestamp_ns":)\d+/, (ns) => String(BigInt(ns) + 1024n));
  },
  'head of another log': (file, _, { head }) => Object.assign(file, { head }),
  'head and keys of another log': (file, _, { head, keys }) => Object.assign(file, { head, keys }),
  'bundle of another log': (file, _, other) => Object.assign(file, other),
  'tlog-proof of another entry': (file, { tlog_proof }) => Object.assign(file, { tlog_proof }),
  'tlog-proof of another log': (file, _, { tlog_proof }) => Object.assign(file, { tlog_proof }),
  'tlog-proof with another size': (file) => {
    file.tlog_proof = file.tlog_proof!.replace('\n7\n', '\n8\n');
  },
  'consistency with another tree': (file) => {
    file.checkpoint_consistency = [...file.audit_path];
  },
  'timestamp of an earlier tree': (file) => {
    const claim = { authority: 'tsa.example', token: '', checkpoint: smaller, audit_path: [] };
    file.timestamps = { not_before: [], not_after: [claim] };
  },
};

/**
 * Columns: the verdicts of the console with the keys in the file, and of `candor verify --keys` with the keys
 * of the log.
 */
const rows = rowsOf(`
  nothing                                  | good   | verified
  no checkpoint, as in earlier versions    | good   | verified
  entry edited                             | broken | 4 NOT_INCLUDED
  entry edited and signed by the event key | broken | 4 NOT_INCLUDED
  another position                         | broken | 4 NOT_INCLUDED
  path of another entry                    | broken | 4 NOT_INCLUDED
  head with another time                   | broken | 4 BAD_SIGNATURE
  head of another log                      | broken | 4 UNKNOWN_KEY
  head and keys of another log             | broken | 4 UNKNOWN_KEY
  bundle of another log                    | good   | 4 UNKNOWN_KEY
  tlog-proof of another entry              | good   | 4 WRONG_LEAF
  tlog-proof of another log                | good   | 4 UNSIGNED_CHECKPOINT
  tlog-proof with another size             | good   | 4 UNSIGNED_CHECKPOINT
  consistency with another tree            | good   | 4 MALFORMED_BUNDLE
  timestamp of an earlier tree             | good   | 4 MALFORMED_PROOF
`);

test('the table has a row for each alteration', () => {
  expect(rows.map(([lie]) => lie)).toEqual(Object.keys(lies));
});

test.each(rows)('%s: the console shows %s, candor verify %s', async (lie, ...verdicts) => {
  const file = read(bundles.own);
  lies[lie!]!(file, read(bundles.second), read(bundles.other));
  const text = written(file);
  const source = { url: log.url, get: async () => text, getBytes: async () => Buffer.from(text) };
  expect([await consoleOf(source, file.leaf_index), verifyFileOf(text)]).toEqual(verdicts);
});

/** Verifies a bundle as `candor verify <file> --keys` does. */
function verifyFileOf(text: string): string {
  const [bundle, proofs] = [parseBundle(text), parseBundleProofs(text)];
  if (bundle instanceof AuditFault || proofs instanceof AuditFault) return String([bundle, proofs].map(codeOf));
  const verified = verifyBundle({ ...bundle, keys });
  if (verified instanceof AuditFault) return codeOf(verified);
  const proven = verifyBundleProofs(bundle, proofs, keys, { trustedKeys: true });
  return proven instanceof AuditFault ? codeOf(proven) : 'verified';
}

const codeOf = (fault: unknown): string =>
  fault instanceof AuditFault ? `${exitCodeOf(fault)} ${fault.code}` : 'parsed';
