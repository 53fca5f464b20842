import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { verifyEd25519 } from '../../src/client/ed25519.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { decodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { noteSignatureBy, parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { entry } from '../ledger/fixture-entry.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let size = 0;
const tokens: Record<'admin' | 'auditor' | 'viewer', string> = { admin: '', auditor: '', viewer: '' };

interface Leaf {
  leaf_index: number;
  leaf_hash: string;
  canonical: string;
  entry: { id: string; kind: string };
}
interface Page<A> {
  data: { id: string; type: string; attributes: A }[];
  pagination: Record<string, unknown>;
}
let leaves: Leaf[] = [];

/** Opens a log of real entries: sessions, tokens, and a rotation of a key. No entries are appended later. */
beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const session = await service.call('login', 'POST /auth/login', { json });
  tokens.admin = (session.body as { access_token: string }).access_token;
  for (const role of ['auditor', 'viewer', 'auditor', 'viewer', 'auditor', 'viewer'] as const) {
    const answer = await service.call('issueToken', 'POST /api/v1/tokens', {
      token: tokens.admin,
      json: { name: role, scopes: [role] },
    });
    tokens[role] = (answer.body as { data: { attributes: { token: string } } }).data.attributes.token;
  }
  service.pump.wake();
  await service.pump.idle();
  await service.ledger.rotateKey('event-signing', 'system');
  const list = await get('listEntries', '/api/transparency/entries?per_page=1000', tokens.auditor);
  leaves = (list.body as Page<Leaf>).data.map(({ attributes }) => attributes);
  size = leaves.length;
});
afterAll(() => service.close());

const get = (operation: OperationId, path: string, token?: string) =>
  service.call(operation, `GET ${path}`, token === undefined ? {} : { token });
const failure = ({ status, body }: { status: number; body: unknown }) => {
  const { code, details } = (body as { error: { code: string; details?: { field?: string } } }).error;
  return [status, code, details?.field];
};
const reasonOf = ({ body }: { body: unknown }) =>
  (body as { error: { details: { reason: string } } }).error.details.reason;

test('the log of these tests has entries about keys and other entries', () => {
  const kinds = leaves.map(({ entry }) => entry.kind);
  expect(size).toBeGreaterThan(8);
  expect(kinds).toContain('key.rotated');
  expect(kinds).toContain('token.issued');
});

describe('parameters', () => {
  /** Each integer parameter of each endpoint, after a query that is valid without the parameter. */
  const integers: [OperationId, string, string][] = [
    ['getTreeHead', '/api/transparency/sth?', 'tree_size'],
    ['getInclusionProof', '/api/transparency/inclusion?', 'leaf_index'],
    ['getInclusionProof', '/api/transparency/inclusion?leaf_index=0&', 'tree_size'],
    ['getConsistencyProof', '/api/transparency/consistency?second=5&', 'first'],
    ['getConsistencyProof', '/api/transparency/consistency?first=2&', 'second'],
    ['getLeaf', '/api/transparency/leaf?', 'leaf_index'],
    ['getProofBundle', '/api/transparency/proof?', 'leaf_index'],
    ['listTreeHeads', '/api/transparency/sths?', 'from_size'],
    ['listTreeHeads', '/api/transparency/sths?', 'to_size'],
    ['listTreeHeads', '/api/transparency/sths?', 'page'],
    ['listTreeHeads', '/api/transparency/sths?', 'per_page'],
    ['listEntries', '/api/transparency/entries?', 'from'],
    ['listEntries', '/api/transparency/entries?', 'to'],
    ['listEntries', '/api/transparency/entries?', 'page'],
    ['listEntries', '/api/transparency/entries?', 'per_page'],
  ];
  const malformed = [
    ...['', '-0', '-1', '+1', '%2B1', '01', '00', '1.0', '1.', '.5', '1e1', '1E1', '0x1', '0b1', '1n', '1_0', '1,0'],
    ...['%201', '1%20', '%091', '1%0A', '%00', '1%00', 'null', 'NaN', 'Infinity', 'one', '%D9%A1', '%EF%BC%91', '1;2'],
    ...['9007199254740992', '18446744073709551616', '9'.repeat(400), '1'.repeat(20), `-${'9'.repeat(400)}`],
  ];

  test.each(integers)(
    '%s %s%s accepts canonical decimals only, and the error states the range',
    async (operation, path, name) => {
      for (const value of malformed) {
        const answer = await get(operation, `${path}${name}=${value}`, tokens.auditor);
        expect([value, ...failure(answer)]).toEqual([value, 400, 'INVALID_REQUEST', name]);
        expect(reasonOf(answer)).toMatch(/^must be an integer from \d+ to \d+/);
      }
      const twice = await get(operation, `${path}${name}=1&${name}=1`, tokens.auditor);
      expect(failure(twice)).toEqual([400, 'INVALID_REQUEST', name]);
    },
  );

  test('values out of range are rejected, with the range', async () => {
    const last = size - 1;
    const wrong: [OperationId, string, string, string][] = [
      ['getInclusionProof', `inclusion?leaf_index=${size}`, 'leaf_index', `from 0 to ${last}`],
      ['getInclusionProof', `inclusion?leaf_index=0&tree_size=0`, 'tree_size', `from 1 to ${size}`],
      ['getInclusionProof', `inclusion?leaf_index=0&tree_size=${size + 1}`, 'tree_size', `from 1 to ${size}`],
      ['getInclusionProof', `inclusion?leaf_index=3&tree_size=3`, 'leaf_index', 'from 0 to 2'],
      ['getInclusionProof', `inclusion?leaf_index=4&tree_size=3`, 'leaf_index', 'from 0 to 2'],
      ['getInclusionProof', `inclusion?entry_id=${leaves[4]!.entry.id}&tree_size=4`, 'tree_size', `from 5 to ${size}`],
      ['getConsistencyProof', 'consistency?first=0&second=5', 'first', `from 1 to ${size}`],
      ['getConsistencyProof', 'consistency?first=0&second=0', 'first', `from 1 to ${size}`],
      ['getConsistencyProof', 'consistency?first=5&second=0', 'second', `from 6 to ${size}`],
      ['getConsistencyProof', 'consistency?first=5&second=5', 'second', `from 6 to ${size}`],
      ['getConsistencyProof', 'consistency?first=5&second=1', 'second', `from 6 to ${size}`],
      ['getConsistencyProof', `consistency?first=${size}&second=1`, 'second', `of at least ${size + 1}`],
      ['getConsistencyProof', `consistency?first=${size}&second=${size}`, 'second', `of at least ${size + 1}`],
      ['getConsistencyProof', `consistency?first=1&second=${size + 1}`, 'second', `from 2 to ${size}`],
      ['getConsistencyProof', `consistency?first=${size + 1}&second=${size + 2}`, 'first', `from 1 to ${size}`],
      ['getProofBundle', `proof?leaf_index=${size}`, 'leaf_index', `from 0 to ${last}`],
      ['listTreeHeads', 'sths?from_size=0', 'from_size', `from 1 to ${size + 1}`],
      ['listTreeHeads', `sths?from_size=${size + 2}`, 'from_size', `from 1 to ${size + 1}`],
      ['listTreeHeads', 'sths?to_size=0', 'to_size', `from 2 to ${size + 1}`],
      ['listTreeHeads', 'sths?from_size=3&to_size=3', 'to_size', `from 4 to ${size + 1}`],
      ['listTreeHeads', 'sths?from_size=3&to_size=2', 'to_size', `from 4 to ${size + 1}`],
      ['listTreeHeads', `sths?to_size=${size + 2}`, 'to_size', `from 2 to ${size + 1}`],
      ['listTreeHeads', 'sths?page=0', 'page', 'from 1 to 1000000000'],
      ['listTreeHeads', 'sths?per_page=1001', 'per_page', 'from 1 to 1000'],
      ['listEntries', `entries?from=${size + 1}`, 'from', `from 0 to ${size}`],
      ['listEntries', 'entries?to=0', 'to', `from 1 to ${size}`],
      ['listEntries', 'entries?from=3&to=3', 'to', `from 4 to ${size}`],
      ['listEntries', 'entries?from=3&to=2', 'to', `from 4 to ${size}`],
      ['listEntries', `entries?to=${size + 1}`, 'to', `from 1 to ${size}`],
    ];
    for (const [operation, path, field, range] of wrong) {
      const answer = await get(operation, `/api/transparency/${path}`, tokens.auditor);
      expect([path, ...failure(answer)]).toEqual([path, 400, 'INVALID_REQUEST', field]);
      expect([path, reasonOf(answer)]).toEqual([path, expect.stringContaining(`must be an integer ${range}`)]);
    }
  });

  test('a missing, unknown, redundant or malformed leaf parameter is rejected and named in the error', async () => {
    const leafEndpoints: [OperationId, string][] = [
      ['getInclusionProof', 'inclusion'],
      ['getLeaf', 'leaf'],
      ['getProofBundle', 'proof'],
    ];
    const hash = 'ab'.repeat(32);
    const wrong: [OperationId, string, string][] = [
      ['getConsistencyProof', 'consistency', 'first'],
      ['getConsistencyProof', 'consistency?first=1', 'second'],
      ['getConsistencyProof', 'consistency?second=1', 'first'],
      ['getConsistencyProof', 'consistency?first=1&second=2&third=3', 'third'],
      ['getTreeHead', 'sth?size=1', 'size'],
      ['listTreeHeads', 'sths?from=1', 'from'],
      ['listEntries', 'entries?kind=', 'kind'],
      ['listEntries', 'entries?kind=key.rotated&kind=key', 'kind'],
      ['listEntries', 'entries?cursor=x', 'cursor'],
      ...leafEndpoints.flatMap(([operation, path]): [OperationId, string, string][] => [
        [operation, path, 'leaf_index'],
        [operation, `${path}?leaf_index=0&leaf_hash=${hash}`, 'leaf_hash'],
        [operation, `${path}?leaf_index=0&entry_id=${leaves[0]!.entry.id}`, 'entry_id'],
        [operation, `${path}?entry_id=7`, 'entry_id'],
        [operation, `${path}?leaf_hash=${hash.slice(1)}`, 'leaf_hash'],
        [operation, `${path}?leaf_hash=${hash}0`, 'leaf_hash'],
        [operation, `${path}?leaf_hash=0x${hash.slice(2)}`, 'leaf_hash'],
        [operation, `${path}?leaf_hash=`, 'leaf_hash'],
        [operation, `${path}?leaf_index=%zz`, 'leaf_index'],
      ]),
    ];
    for (const [operation, path, field] of wrong) {
      const answer = await get(operation, `/api/transparency/${path}`, tokens.auditor);
      expect([path, ...failure(answer)]).toEqual([path, 400, 'INVALID_REQUEST', field]);
    }
  });

  test('a well-formed parameter without a match is not found', async () => {
    const absent: [OperationId, string][] = [
      ['getTreeHead', 'sth?tree_size=0'],
      ['getTreeHead', `sth?tree_size=${size + 1}`],
      ['getTreeHead', 'sth?tree_size=9007199254740991'],
      ['getLeaf', `leaf?leaf_index=${size}`],
      ['getLeaf', `leaf?leaf_hash=${'ab'.repeat(32)}`],
      ['getProofBundle', 'proof?entry_id=01900000-0000-7000-8000-000000000000'],
      ['getInclusionProof', 'inclusion?entry_id=01900000-0000-7000-8000-000000000000'],
    ];
    for (const [operation, path] of absent) {
      const answer = await get(operation, `/api/transparency/${path}`, tokens.auditor);
      expect([path, ...failure(answer)]).toEqual([path, 404, 'NOT_FOUND', undefined]);
    }
  });
});

describe('lists', () => {
  test('the history lists heads as they were signed, with the exact timestamp', async () => {
    const answer = await fetch(`${service.url}/api/transparency/sths?per_page=1000`);
    const text = await answer.text();
    const { data, pagination } = JSON.parse(text) as Page<{ tree_size: number; timestamp_ns: number }>;
    expect(pagination).toMatchObject({ page: 1, total: data.length, total_pages: 1, has_next: false });
    expect(data.at(-1)?.attributes.tree_size).toBe(size);
    for (const { id, type, attributes } of data) {
      expect([type, id]).toEqual(['tree_head', `${attributes.tree_size}-${BigInt(attributes.timestamp_ns)}`]);
      expect(text).toContain(`"timestamp_ns":${id.split('-')[1]},`);
    }
    const latest = await get('getTreeHead', '/api/transparency/sth');
    expect(latest.body).toEqual(data.at(-1)?.attributes);
    const old = data[0]!.attributes;
    const found = await get('listTreeHeads', `/api/transparency/sths?from_size=${old.tree_size}&per_page=1`);
    expect((found.body as Page<unknown>).data).toEqual([data[0]]);
    expect((found.body as Page<unknown>).pagination).toMatchObject({ total: data.length, has_next: true });
    const none = await get('listTreeHeads', `/api/transparency/sths?from_size=${size + 1}`);
    expect(none.body).toMatchObject({ data: [], pagination: { total: 0, total_pages: 0 } });
  });

  test('entries are listed by range and kind, as the bytes that were hashed', async () => {
    const page = await get('listEntries', '/api/transparency/entries?from=2&to=7&page=2&per_page=3', tokens.auditor);
    const { data, pagination } = page.body as Page<Leaf>;
    expect(data.map(({ attributes }) => attributes)).toEqual(leaves.slice(5, 7));
    expect(pagination).toMatchObject({ page: 2, per_page: 3, total: 5, total_pages: 2, has_next: false });
    for (const { id, type, attributes } of data) {
      const canonical = Buffer.from(attributes.canonical, 'base64').toString();
      expect([type, JSON.parse(canonical)]).toEqual(['log_entry', attributes.entry]);
      expect(id).toBe(attributes.entry.id);
    }
    const kinds = ['key.rotated', 'token.issued'];
    const some = await get(
      'listEntries',
      `/api/transparency/entries?${kinds.map((kind) => `kind=${kind}`).join('&')}`,
      tokens.admin,
    );
    const wanted = leaves.filter(({ entry }) => kinds.includes(entry.kind));
    expect((some.body as Page<Leaf>).data.map(({ attributes }) => attributes)).toEqual(wanted);
    const beyond = await get('listEntries', `/api/transparency/entries?from=${size}`, tokens.auditor);
    expect(beyond.body).toMatchObject({ data: [], pagination: { total: 0 } });
  });
});

test('a bundle verifies without further data', async () => {
  const { entry, leaf_index } = leaves[3]!;
  const answer = await fetch(`${service.url}/api/transparency/proof?entry_id=${entry.id}`, {
    headers: { authorization: `Bearer ${tokens.auditor}` },
  });
  const text = await answer.text();
  expect(Object.keys(JSON.parse(text)).sort()).toEqual([
    'audit_path',
    'canonical',
    'checkpoint_consistency',
    'checkpoint_published',
    'head',
    'keys',
    'leaf_hash',
    'leaf_index',
    'timestamps',
    'tlog_proof',
    'tree_size',
  ]);
  const bundle = parseBundle(text);
  if (bundle instanceof AuditFault) throw new Error(bundle.message);
  const verified = verifyBundle(bundle);
  if (verified instanceof AuditFault) throw new Error(verified.message);
  expect([verified.entry.id, verified.leafIndex, verified.head.size]).toEqual([entry.id, leaf_index, size]);
  expect((await get('getProofBundle', `/api/transparency/proof?leaf_index=3`, tokens.auditor)).status).toBe(200);
});

test('a bundle has the published checkpoint, or a checkpoint that it marks as unpublished', async () => {
  const bundled = (await get('getProofBundle', '/api/transparency/proof?leaf_index=3', tokens.auditor)).body;
  const { body: published } = await get('getCheckpoint', '/checkpoint');
  expect(bundled).toMatchObject({ checkpoint_published: true, checkpoint_consistency: [] });
  expect((bundled as { tlog_proof: string }).tlog_proof).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex 3\n/);
  expect((bundled as { tlog_proof: string }).tlog_proof.endsWith(`\n\n${published}`)).toBe(true);

  const noQuorum = () => Promise.reject(new ServiceError('UNAVAILABLE', 'no quorum'));
  const waiting = await openService({ CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' }, { checkpoint: noQuorum });
  try {
    await waiting.ledger.append([entry(0)]);
    const { status, body } = await waiting.call('getProofBundle', 'GET /api/transparency/proof?leaf_index=0');
    expect([status, body]).toMatchObject([200, { checkpoint_published: false }]);
  } finally {
    await waiting.close();
  }
});

test('any path and parameters get 200, 400, 401 or 404, and no error is logged', async () => {
  const paths = ['sth', 'inclusion', 'consistency', 'leaf', 'sths', 'entries', 'proof'] as const;
  const names = ['leaf_index', 'tree_size', 'first', 'second', 'from', 'to', 'from_size', 'kind', 'entry_id', 'page'];
  const value = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.integer().map(String),
    fc.stringMatching(/^[0-9x.e+-]{0,20}$/),
    fc.constantFrom('key.rotated', ...leaves.map(({ entry }) => entry.id)),
  );
  const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 });
  // Except paths that leave the tiles: `/tile/../` is `/`.
  const tile = fc
    .stringMatching(/^[0-9xp/.%aentris-]{1,30}$/)
    .filter((path) => new URL(`/tile/${path}`, service.url).pathname.startsWith('/tile/'));
  const target = fc.oneof(
    fc.tuple(fc.constantFrom(...paths), query).map(([path, pairs]) => {
      const search = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      return `/api/transparency/${path}?${search}`;
    }),
    tile.map((path) => `/tile/${path}`),
  );
  await fc.assert(
    fc.asyncProperty(target, fc.constantFrom(undefined, tokens.auditor), async (path, token) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(service.url + path, { headers });
      await answer.arrayBuffer();
      expect([path, [200, 400, 401, 404]]).toEqual([path, expect.arrayContaining([answer.status])]);
    }),
    { numRuns: 150 },
  );
  expect(service.logged).toEqual([]);
});

describe('access to entries', () => {
  const publicPaths = (leaf: Leaf): [OperationId, string][] => [
    ['getLeaf', `/api/transparency/leaf?leaf_index=${leaf.leaf_index}`],
    ['getLeaf', `/api/transparency/leaf?entry_id=${leaf.entry.id}`],
    ['getLeaf', `/api/transparency/leaf?leaf_hash=${leaf.leaf_hash}`],
    ['getProofBundle', `/api/transparency/proof?entry_id=${leaf.entry.id}`],
  ];

  test('entries about keys are public', async () => {
    for (const leaf of leaves.filter(({ entry }) => entry.kind.startsWith('key.')))
      for (const [operation, path] of publicPaths(leaf))
        for (const token of [undefined, tokens.viewer])
          expect((await get(operation, path, token)).body).toMatchObject({ leaf_hash: leaf.leaf_hash });
    const list = await get('listEntries', '/api/transparency/entries?kind=key.rotated&kind=key.retired');
    const ofKeys = leaves.filter(({ entry }) => ['key.rotated', 'key.retired'].includes(entry.kind));
    expect((list.body as Page<Leaf>).data.map(({ attributes }) => attributes)).toEqual(ofKeys);
  });

  test('other entries are refused, existing or not, so that their existence is not disclosed', async () => {
    const other = leaves.find(({ entry }) => !entry.kind.startsWith('key.'))!;
    const absent = {
      ...other,
      leaf_index: size,
      leaf_hash: 'ab'.repeat(32),
      entry: { ...other.entry, id: '01900000-0000-7000-8000-000000000000' },
    };
    const paths: [OperationId, string][] = [
      ...publicPaths(other),
      ...publicPaths(absent),
      ['listEntries', '/api/transparency/entries'],
      ['listEntries', '/api/transparency/entries?kind=key.rotated&kind=token.issued'],
      ['getEntryBundle', `/tile/entries/000.p/${size}`],
    ];
    const refusals = new Set<string>();
    for (const [operation, path] of paths) {
      const stranger = await get(operation, path);
      expect([path, ...failure(stranger)]).toEqual([path, 401, 'UNAUTHENTICATED', undefined]);
      expect(stranger.headers.get('www-authenticate')).not.toBeNull();
      refusals.add((stranger.body as { error: { message: string } }).error.message);
      expect([path, ...failure(await get(operation, path, tokens.viewer))]).toEqual([
        path,
        403,
        'FORBIDDEN',
        undefined,
      ]);
    }
    expect(refusals.size).toBe(1);
  });

  test('bad credentials are refused even if no credentials are required', async () => {
    const ofKey = leaves.find(({ entry }) => entry.kind === 'key.rotated')!;
    const paths: [OperationId, string][] = [
      ...publicPaths(ofKey),
      ['listEntries', '/api/transparency/entries?kind=key.rotated'],
    ];
    for (const [operation, path] of paths)
      expect(failure(await get(operation, path, 'nonsense'))[1]).toBe('UNAUTHENTICATED');
  });
});

describe('checkpoint and tiles', () => {
  test('the checkpoint is a note that its published key verifies, and is revalidated each time', async () => {
    const answer = await get('getCheckpoint', '/checkpoint?probe=1');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const note = parseNote(String(answer.body));
    const key = parseVerifierKey(sha256, (await service.ledger.status()).checkpoint_vkey);
    expect(noteSignatureBy(note, key, verifyEd25519)).toBeDefined();
    expect(parseCheckpoint(note.text)).toMatchObject({ origin: key.name, size });
  });

  test('tiles are immutable bytes; shared caches do not keep bundles of entries', async () => {
    const hashes = await get('getTile', `/tile/0/000.p/${size}`);
    expect(Buffer.from(hashes.body as Uint8Array).toString('hex')).toBe(
      leaves.map(({ leaf_hash }) => leaf_hash).join(''),
    );
    expect(hashes.headers.get('content-type')).toBe('application/octet-stream');
    expect(hashes.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const entries = await get('getEntryBundle', `/tile/entries/000.p/${size}`, tokens.auditor);
    expect(
      decodeEntryBundle(entries.body as Uint8Array, size).map((bytes) => Buffer.from(bytes).toString('base64')),
    ).toEqual(leaves.map(({ canonical }) => canonical));
    expect(entries.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
  });

  test('tiles beyond the tree are not found, and not cached', async () => {
    const absent = ['0/000', `0/000.p/${size + 1}`, '0/001', '0/x001/000', '1/000', '1/000.p/1', '63/000.p/1'];
    for (const path of absent) {
      const answer = await get('getTile', `/tile/${path}`);
      expect([path, ...failure(answer)]).toEqual([path, 404, 'NOT_FOUND', 'tile']);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    expect(failure(await get('getEntryBundle', '/tile/entries/000', tokens.auditor))[1]).toBe('NOT_FOUND');
  });

  test('other spellings of a tile path are rejected', async () => {
    const wrong = [
      ...['0/0', '0/00', '0/0000', '0/x000/000', '00/000.p/1', '64/000', '-1/000', '0/-01', '0/000.p/0', '0/000.p/256'],
      ...['0/000.p/01', '0/000.p/', '0/000.p', '0/000.p/1/', '0/000/', '0//000', '0/001/234', '0/x1/234', '0/X001/234'],
      ...['0/%30%30%30', '0/000%2ep/1', '0%2f000', '%30/000', '0/000.p/%31', '0/000%00', '0/%2e%2e/000', '0/%zz', 'x'],
      ...['0', '0/', 'entries', 'data/000', '0/x999/x999/x999/x999/x999/x999/999', `0/${'x000/'.repeat(20)}001`],
      ...[`%65ntries/000.p/${1}`, '0/000.p/1.p/1', '0/٠٠٠', '9007199254740993/000'],
    ];
    for (const path of wrong) {
      const answer = await get('getTile', `/tile/${path}`);
      expect([path, ...failure(answer)]).toEqual([path, 400, 'INVALID_REQUEST', 'tile']);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    for (const path of ['0/000', '%30', '000.p/256', '000/', 'x']) {
      const answer = await get('getEntryBundle', `/tile/entries/${path}`, tokens.auditor);
      expect([path, ...failure(answer)]).toEqual([path, 400, 'INVALID_REQUEST', 'bundle']);
    }
  });

  test('the typed client returns checkpoint and tiles as text and bytes', async () => {
    const client = createClient({ baseUrl: service.url, token: tokens.auditor });
    expect(parseNote(await client.call('getCheckpoint')).signatures).toHaveLength(1);
    const tile = await client.call('getTile', { params: { tile: `0/000.p/${size}` } });
    expect(tile).toHaveLength(32 * size);
    const bundle = await client.call('getEntryBundle', { params: { bundle: `000.p/${size}` } });
    expect(decodeEntryBundle(bundle, size)).toHaveLength(size);
    const absent = client.call('getTile', { params: { tile: '9/000.p/1' } });
    await expect(absent).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('HEAD has the headers and no body', async () => {
    for (const path of ['/checkpoint', `/tile/0/000.p/${size}`, '/api/transparency/sths']) {
      const [head, whole] = await Promise.all([
        fetch(service.url + path, { method: 'HEAD' }),
        fetch(service.url + path),
      ]);
      expect([path, head.status, await head.text()]).toEqual([path, 200, '']);
      for (const name of ['content-type', 'cache-control', 'content-length'])
        if (path !== '/api/transparency/sths' || name !== 'content-length')
          expect(head.headers.get(name)).toBe(whole.headers.get(name));
    }
  });
});

describe('settings', () => {
  test('public entries need no credentials, and may be stored by shared caches', async () => {
    const other = await openService({ CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' });
    const json = { username: 'admin', password };
    await other.call('login', 'POST /auth/login', { json });
    other.pump.wake();
    await other.pump.idle();
    for (const [operation, path] of [
      ['getLeaf', '/api/transparency/leaf?leaf_index=0'],
      ['listEntries', '/api/transparency/entries'],
      ['getProofBundle', '/api/transparency/proof?leaf_index=0'],
    ] as const)
      expect([path, (await other.call(operation, `GET ${path}`)).status]).toEqual([path, 200]);
    const bundle = await other.call('getEntryBundle', 'GET /tile/entries/000.p/1');
    expect([bundle.status, bundle.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    await other.close();
  });

  test('a page of entries that would be too long is rejected and counted, and the error names the parameter to lower', async () => {
    const other = await openService({ CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' });
    const long = (n: number) => ({
      id: `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
      kind: 'alert.raised',
      occurred_at: new Date().toISOString(),
      actor: 'system',
      subject: { type: 'alert', id: 'a' },
      data: { text: 'x'.repeat(50_000) },
    });
    const count = Math.ceil(limits.maxEntriesPageBytes / 50_000);
    await other.ledger.append(Array.from({ length: count }, (_, n) => long(n)));
    const list = await other.call('listEntries', 'GET /api/transparency/entries?per_page=1000');
    expect(failure(list)).toEqual([400, 'INVALID_REQUEST', 'per_page']);
    expect(other.services.metrics.limitsReached()).toMatchObject([{ limit: 'maxEntriesPageBytes', times: 1 }]);
    expect((await fetch(`${other.url}/api/transparency/entries?per_page=10`)).status).toBe(200);
    await other.close();
  });

  test('an empty log has no head, no checkpoint, no tiles, and lists without items', async () => {
    const other = await openService({ CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' });
    for (const [operation, path] of [
      ['getTreeHead', '/api/transparency/sth'],
      ['getInclusionProof', '/api/transparency/inclusion?leaf_index=0'],
      ['getProofBundle', '/api/transparency/proof?leaf_index=0'],
      ['getCheckpoint', '/checkpoint'],
    ] as const)
      expect(failure(await other.call(operation, `GET ${path}`)).slice(0, 2)).toEqual([503, 'LOG_EMPTY']);
    for (const [operation, path] of [
      ['listTreeHeads', '/api/transparency/sths'],
      ['listEntries', '/api/transparency/entries'],
    ] as const)
      expect((await other.call(operation, `GET ${path}`)).body).toMatchObject({
        data: [],
        pagination: { total: 0 },
      });
    expect((await other.call('getTile', 'GET /tile/0/000.p/1')).status).toBe(404);
    expect((await other.call('getLeaf', 'GET /api/transparency/leaf?leaf_index=0')).status).toBe(404);
    await other.close();
  });
});

describe('keys', () => {
  type Jwk = { kid: string; svc_state: string; svc_purpose: string };
  const keysOf = async (query: string) =>
    (await get('listPublicKeys', `/api/transparency/keys${query}`)).body as Page<Jwk>;

  test('the key set has the current keys and the keys that ended last; the pages have all keys', async () => {
    const other = await openService();
    for (let i = 0; i < 8; i++) await other.ledger.rotateKey('access-token', 'system');
    const { body } = await other.call('getKeySet', 'GET /.well-known/jwks.json');
    const { keys } = body as { keys: Jwk[] };
    const all = await other.ledger.keys();
    const tokens = keys.filter(({ svc_purpose }) => svc_purpose === 'access-token');
    expect(tokens.map(({ svc_state }) => svc_state).sort()).toEqual(['active', ...Array(4).fill('retired')]);
    expect(tokens.map(({ kid }) => kid)).toEqual(
      all
        .filter(({ svc_purpose }) => svc_purpose === 'access-token')
        .slice(-5)
        .map(({ kid }) => kid),
    );
    expect(keys.length).toBe(8);
    const paged: string[] = [];
    for (let page = 1; page <= 3; page++) {
      const list = (await other.call('listPublicKeys', `GET /api/transparency/keys?page=${page}&per_page=5`))
        .body as Page<Jwk>;
      expect(list.pagination).toMatchObject({ total: 12, total_pages: 3 });
      paged.push(...list.data.map(({ attributes }) => attributes.kid));
    }
    expect(paged).toEqual(all.map(({ kid }) => kid));
    await other.close();
  });

  test('the key history is public and lists only entries about keys, oldest first', async () => {
    const wanted = leaves.filter(({ entry }) => entry.kind.startsWith('key.'));
    const { body } = await get('listKeyHistory', '/api/transparency/key-history');
    expect((body as Page<Leaf>).data.map(({ attributes }) => attributes)).toEqual(wanted);
    expect(wanted.map(({ entry }) => entry.kind)).toEqual(['key.rotated', 'key.retired']);
    const second = await get('listKeyHistory', '/api/transparency/key-history?page=2&per_page=1');
    expect((second.body as Page<Leaf>).data.map(({ attributes }) => attributes)).toEqual(wanted.slice(1));
  });

  test.each([
    ['listKeyHistory', 'key-history?page=0', 'page'],
    ['listKeyHistory', 'key-history?kind=token.issued', 'kind'],
    ['listPublicKeys', 'keys?per_page=1001', 'per_page'],
  ] as const)('%s rejects %s', async (operation, query, field) => {
    expect(failure(await get(operation, `/api/transparency/${query}`))).toEqual([400, 'INVALID_REQUEST', field]);
  });

  test('the first page of the key list needs no token', async () => {
    expect((await keysOf('')).data.map(({ type }) => type)).toContain('public_key');
  });
});
