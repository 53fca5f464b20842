/**
 * An attacker without a key changes one field of a tree head in transit. The head is rejected, and the log is
 * not accused. A witness receives checkpoints, not tree heads, so it continues cosigning.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FaultCode } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { type Lie, ServedLog } from '../client/served-log.ts';
import { auditOf, type Cosigned, consoleOf, cosignedOf, pinOf, verifyOf, watchOf, witnessOf } from './parties.ts';

let log: ServedLog;
let pin: Pin;
let cosigned: Cosigned;
/** Key ids of the log. */
const kids = { retired: '', event: '', revoked: '' };

beforeAll(async () => {
  log = await ServedLog.start();
  await log.append(5);
  kids.retired = (await log.ledger.status()).sth_key_id;
  await log.ledger.rotateKey('transparency-sth', 'system');
  const revoked = await log.ledger.revokeKey((await log.ledger.status()).sth_key_id, 'stolen', 'system');
  kids.revoked = revoked.kid;
  await log.append(5);
  kids.event = String((await log.ledger.keys()).find((key) => key.svc_purpose === 'event-signing')!.kid);
  pin = await pinOf(httpLog(log.url));
  cosigned = await cosignedOf(httpLog(log.url), log.ledger);
  await log.append(5);
});
afterAll(() => log.close());

interface Row {
  readonly field: string;
  readonly value: string;
  edit(head: Record<string, string>): void;
  readonly code: FaultCode;
  /** Result of the console's verifier, if it is neither `code` nor `broken`. */
  readonly console?: string;
}

/** Returns the members' JSON texts by name; integers keep all their digits. */
const membersOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/"(\w+)":("[^"]*"|[^,}]*)/g)].map(([, name, value]) => [name!, value!]));
const textOf = (head: Record<string, string>): string =>
  `{${Object.entries(head)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;
const plus = (text: string, n: bigint): string => String(BigInt(text) + n);
const flipped = (text: string): string => text.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0'));
const yearNs = 365n * 86_400_000_000_000n;

const fields = ['tree_size', 'root_hash', 'timestamp_ns', 'signature', 'signer_key_id'] as const;
const set =
  (field: (typeof fields)[number], to: string | ((was: string) => string)) => (head: Record<string, string>) => {
    head[field] = typeof to === 'string' ? to : to(head[field]!);
  };

const rows: readonly Row[] = [
  ...fields.map((field) => ({
    field,
    value: 'missing',
    edit: (head: Record<string, string>) => void delete head[field],
    code: 'MALFORMED_HEAD' as const,
  })),
  ...fields.map((field) => ({
    field,
    value: 'null',
    edit: set(field, 'null'),
    code: 'MALFORMED_HEAD' as const,
  })),
  { field: 'tree_size', value: '0', edit: set('tree_size', '0'), code: 'MALFORMED_HEAD' },
  { field: 'tree_size', value: '-1', edit: set('tree_size', '-1'), code: 'MALFORMED_HEAD' },
  { field: 'tree_size', value: '2^53', edit: set('tree_size', String(2 ** 53)), code: 'MALFORMED_HEAD' },
  { field: 'tree_size', value: '1.5', edit: set('tree_size', '1.5'), code: 'MALFORMED_HEAD' },
  {
    field: 'tree_size',
    value: 'one more',
    edit: set('tree_size', (was) => plus(was, 1n)),
    code: 'BAD_SIGNATURE',
    console: 'MALFORMED_BUNDLE',
  },
  {
    field: 'tree_size',
    value: 'one less',
    edit: set('tree_size', (was) => plus(was, -1n)),
    code: 'BAD_SIGNATURE',
    console: 'MALFORMED_BUNDLE',
  },
  {
    field: 'root_hash',
    value: 'of 31 bytes',
    edit: set('root_hash', `"${'ab'.repeat(31)}"`),
    code: 'MALFORMED_HEAD',
  },
  { field: 'root_hash', value: 'altered', edit: set('root_hash', flipped), code: 'BAD_SIGNATURE' },
  { field: 'timestamp_ns', value: 'as a float', edit: set('timestamp_ns', '1.5e18'), code: 'MALFORMED_HEAD' },
  {
    field: 'timestamp_ns',
    value: '2^64',
    edit: set('timestamp_ns', String(2n ** 64n)),
    code: 'MALFORMED_HEAD',
  },
  {
    field: 'timestamp_ns',
    value: 'later',
    edit: set('timestamp_ns', (was) => plus(was, 1024n)),
    code: 'BAD_SIGNATURE',
  },
  {
    field: 'timestamp_ns',
    value: 'a year ahead',
    edit: set('timestamp_ns', (was) => plus(was, yearNs)),
    code: 'BAD_SIGNATURE',
  },
  {
    field: 'signature',
    value: 'of 63 bytes',
    edit: set('signature', `"${'ab'.repeat(63)}"`),
    code: 'MALFORMED_HEAD',
  },
  { field: 'signature', value: 'altered', edit: set('signature', flipped), code: 'BAD_SIGNATURE' },
  { field: 'signer_key_id', value: 'no UUID', edit: set('signer_key_id', '"key"'), code: 'MALFORMED_HEAD' },
  {
    field: 'signer_key_id',
    value: 'unknown',
    edit: set('signer_key_id', '"01940000-0000-7000-8000-000000000000"'),
    code: 'UNKNOWN_KEY',
  },
  {
    field: 'signer_key_id',
    value: 'of an event key',
    edit: (head) => set('signer_key_id', `"${kids.event}"`)(head),
    code: 'WRONG_KEY_PURPOSE',
  },
  {
    field: 'signer_key_id',
    value: 'of a retired key',
    edit: (head) => set('signer_key_id', `"${kids.retired}"`)(head),
    code: 'KEY_OUT_OF_RANGE',
  },
  {
    field: 'signer_key_id',
    value: 'of a revoked key',
    edit: (head) => set('signer_key_id', `"${kids.revoked}"`)(head),
    code: 'KEY_REVOKED',
  },
];

test.each(rows)('a head with $field $value is rejected with $code', async ({ edit, code, console }) => {
  const lie = (text: string): string => {
    const head = membersOf(text);
    edit(head);
    return textOf(head);
  };
  const source = httpLog(log.url);
  const serve = (...lies: Lie[]) => {
    log.lies = lies;
    return source;
  };
  const altered = { path: '/api/transparency/sth', tell: lie };
  serve(altered);
  const refused = { exit: exitCodes.refused, found: code, evidence: undefined };
  expect(await auditOf(source, pin)).toEqual(refused);
  expect(await auditOf(source, pin, { entries: true })).toEqual(refused);
  expect(await auditOf(source, undefined)).toEqual(refused);
  expect(await verifyOf(source, 3)).toBe(code);
  const watched = await watchOf(
    pin,
    () => serve(altered),
    () => serve(),
  );
  expect(watched).toBe(code);
  serve(altered);
  expect(await witnessOf(source, cosigned)).toBe('cosigned');
  serve({
    path: '/api/transparency/proof',
    tell: (text) => text.replace(/"head":\{[^}]*\}/, (head) => `"head":${lie(head.slice(7))}`),
  });
  expect(await consoleOf(source, 3)).toBe(console ?? (code === 'MALFORMED_HEAD' ? code : 'broken'));
});
