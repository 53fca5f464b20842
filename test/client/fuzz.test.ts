/** Readers of untrusted input return a value or a fault, and never throw. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseArchiveHeader, writeArchiveHeader, writeArchiveLine } from '../../src/client/archive.ts';
import { beginArchive, exportEntries } from '../../src/client/archive-export.ts';
import { verifyArchive } from '../../src/client/archive-verify.ts';
import { audit } from '../../src/client/auditor.ts';
import { parseBundleProofs, verifyBundleProofs } from '../../src/client/bundle-proofs.ts';
import { parseCheckpointKey, verifyCheckpoint } from '../../src/client/checkpoint.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { type KeySet, parseKeySet } from '../../src/client/key-set.ts';
import { decodeNote, fetchHead } from '../../src/client/latest.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin, writePin } from '../../src/client/pin.ts';
import { proveEntry } from '../../src/client/proven-entry.ts';
import { fetchEntryBundle, fetchTile } from '../../src/client/tiles.ts';
import { parseTreeHead, writeTreeHead } from '../../src/client/tree-head.ts';
import { judge, type Verdict } from '../../src/client/verdict.ts';
import { parseBundle, readEntry, verifyBundle, verifyEntry, writeBundle } from '../../src/client/verify.ts';
import { ServedLog } from './served-log.ts';

type Answer = object | string | undefined;

let keys: KeySet = new Map();

/** Each reader applied to any text returns an object or a fault. */
const readers: Readonly<Record<string, (text: string) => Answer | Promise<Answer>>> = {
  head: parseTreeHead,
  keys: parseKeySet,
  pin: parsePin,
  bundle(text) {
    const bundle = parseBundle(text);
    return bundle instanceof AuditFault ? bundle : verifyBundle(bundle);
  },
  proofs(text) {
    const [bundle, proofs] = [parseBundle(text), parseBundleProofs(text)];
    if (bundle instanceof AuditFault) return bundle;
    return proofs instanceof AuditFault ? proofs : verifyBundleProofs(bundle, proofs, bundle.keys);
  },
  evidence(text) {
    const evidence = parseEvidence(text);
    return evidence instanceof AuditFault ? evidence : judge(evidence);
  },
  entry: (text) => verifyEntry({ leafIndex: 0, canonical: new TextEncoder().encode(text) }, keys),
  note: (text) => verifyCheckpoint(text, keys),
  vkey: parseCheckpointKey,
  header: parseArchiveHeader,
  async archive(text) {
    async function* lines(): AsyncGenerator<string> {
      yield* text.trimEnd().split('\n');
    }
    return verifyArchive(lines());
  },
};

/** Valid texts, to be mutated. */
const good: Record<string, string> = {};
let entryBundle = '';

beforeAll(async () => {
  const log = await ServedLog.start();
  await log.append(3);
  const copy = await log.snapshot();
  await log.append(3);
  const source = httpLog(log.url);
  const told = <T>(value: T | AuditFault): T => {
    if (value instanceof AuditFault) throw new Error(`${value.code}: ${value.message}`);
    return value;
  };
  const signed = told(await fetchHead(source));
  const proven = told(await proveEntry(source, { leafIndex: 1 }, signed));
  const header = told(await beginArchive(source, { now: log.now }));
  const pinned = await audit(source, undefined, { now: log.now });
  if (pinned.status !== 'pinned') throw new Error(pinned.status);
  keys = signed.keys;
  good.head = writeTreeHead(signed.head);
  good.keys = told(await source.get('/.well-known/jwks.json'));
  good.note = told(await source.get('/checkpoint'));
  good.pin = writePin(pinned.pin);
  good.bundle = writeBundle({ leaf: proven, path: proven.path, ...signed });
  good.proofs = told(await source.get('/api/transparency/proof?leaf_index=1'));
  good.entry = new TextDecoder().decode(proven.canonical);
  good.header = writeArchiveHeader(header);
  good.archive = good.header;
  for await (const batch of exportEntries(source, header)) {
    const { first, entries } = told(batch);
    good.archive += entries.map((bytes, i) => writeArchiveLine(first + i, bytes)).join('');
  }
  good.vkey = (await log.ledger.status()).checkpoint_vkey;
  entryBundle = Buffer.from(await log.ledger.entryBundle(0, 6)).toString('latin1');
  log.now += 1000;
  await log.restore(copy);
  await log.append(5);
  const forked = await audit(source, pinned.pin, { now: log.now });
  good.evidence = forked.status === 'fault' ? (forked.evidence ?? '') : '';
  await log.close();
});

const names = Object.keys(readers);

async function check(name: string, text: string): Promise<Answer> {
  const answer = await readers[name]!(text);
  expect(typeof answer).toBe('object');
  return answer;
}

/** Mutations that remove, insert or replace a part of a text. */
const mutations = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(40),
    put: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('"', '{', '}', '[', ']', ',', '0', '1e9', '-', '\n', '\ud800', '__proto__', 'null', '\u0000'),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

type Mutation = { readonly at: number; readonly cut: number; readonly put: string };

function mutate(text: string, changes: readonly Mutation[]): string {
  return changes.reduce((now, { at, cut, put }) => {
    const from = Math.floor(at * now.length);
    return now.slice(0, from) + put + now.slice(from + cut);
  }, text);
}

/** Replaces the value of a random member in valid JSON. */
function replaceMember(json: unknown, at: number, value: unknown): unknown {
  let left = 0;
  const count = (node: unknown): number =>
    typeof node === 'object' && node !== null
      ? Object.values(node).reduce((sum: number, member) => sum + 1 + count(member), 0)
      : 0;
  left = Math.floor(at * count(json));
  const walk = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    const entries = Object.entries(node).map(([name, member]) => [name, left-- === 0 ? value : walk(member)] as const);
    return Array.isArray(node) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
  };
  return walk(json);
}

describe('parsers only fail with a fault', () => {
  test.each(names)('%s: the valid text is accepted', async (name) => {
    expect(await check(name, good[name]!)).not.toBeInstanceOf(AuditFault);
    if (name === 'evidence') expect(((await check(name, good[name]!)) as Verdict).convicts).toBe(true);
  });

  test.each(names)('%s: any text', async (name) => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.json(),
      fc.json().map((json) => `${json}\n`),
    );
    await fc.assert(
      fc.asyncProperty(text, async (any) => {
        const answer = await check(name, any);
        // A list without keys is a valid key set.
        if (!(answer instanceof Map && answer.size === 0)) expect(answer).toBeInstanceOf(AuditFault);
      }),
      { numRuns: 80 },
    );
  });

  test.each(names)('%s: a mutated valid text', async (name) => {
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        await check(name, mutate(good[name]!, changes));
      }),
      { numRuns: 60 },
    );
  });

  test.each(names.filter((name) => !['note', 'vkey', 'archive'].includes(name)))(
    '%s: a valid text with a member of another type',
    async (name) => {
      const json = JSON.parse(good[name]!) as unknown;
      const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
      const shape = fc.anything({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value) ?? 'null') as unknown);
      const safe = fc.oneof(
        shape.filter((value) => value !== undefined),
        fc.integer(),
        fc.constant([]),
        fc.constant({}),
      );
      await fc.assert(
        fc.asyncProperty(at, safe, async (where, value) => {
          await check(name, JSON.stringify(replaceMember(json, where, value)));
        }),
        { numRuns: 60 },
      );
    },
  );

  test('tiles and entry bundles: any bytes, and mutated valid bytes', async () => {
    let answer = new Uint8Array();
    const source = { url: 'http://log', get: async () => '', getBytes: async () => answer };
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      mutations.map((changes) => Uint8Array.from(Buffer.from(mutate(entryBundle, changes), 'latin1'))),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 256 }), async (any, width) => {
        answer = any;
        const entries = await fetchEntryBundle(source, 0, width);
        if (!(entries instanceof AuditFault)) for (const entry of entries) readEntry(entry);
        await fetchTile(source, { level: 0, index: 0, width });
        decodeNote(any);
      }),
      { numRuns: 150 },
    );
  });
});

/** Processing takes a second, most of it in JSON.parse. Quadratic algorithms would take minutes for a megabyte. */
describe('a megabyte of any input is processed quickly', () => {
  const megabyte = 2 ** 20;
  const long: Readonly<Record<string, string>> = {
    'opening brackets': '['.repeat(megabyte),
    'opening braces': '{"a":'.repeat(megabyte / 5),
    quotes: '"'.repeat(megabyte),
    digits: '1'.repeat(megabyte),
    newlines: '\n'.repeat(megabyte),
    'empty lines and dashes': '\n\n— a AAAA\n'.repeat(megabyte / 11),
    'base64 without end': 'A'.repeat(megabyte - 1),
    'equals signs': '='.repeat(megabyte),
    'plus signs': '+'.repeat(megabyte),
    'nested lists': `${'['.repeat(megabyte / 2)}${']'.repeat(megabyte / 2)}`,
  };
  test.each(Object.entries(long))('%s', async (_what, text) => {
    for (const name of names) expect(await check(name, text)).toBeInstanceOf(AuditFault);
  });

  test('lists of a megabyte in members of valid texts', async () => {
    const path = JSON.stringify(Array.from({ length: 16_000 }, () => '00'.repeat(32)));
    const key = (n: number) => `{"kty":"OKP","crv":"Ed25519","kid":"${n}","x":"${'A'.repeat(43)}"}`;
    const many = `[${Array.from({ length: 10_000 }, (_, n) => key(n)).join()}]`;
    for (const name of ['bundle', 'evidence', 'pin', 'header']) {
      await check(name, good[name]!.replace(/"(audit_path|edge|proof)":\[[^\]]*\]/, `"$1":${path}`));
      await check(name, good[name]!.replace(/"keys":\[.*?\}\]/, `"keys":${many}`));
    }
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(await check('entry', deep)).toBeInstanceOf(AuditFault);
    expect(await check('note', `${good.note!.split('\n\n')[0]}\n${'x\n'.repeat(400_000)}\n— a AAAA\n`)).toBeInstanceOf(
      AuditFault,
    );
  });
});
