import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Evidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { faultWithEvidence } from '../../src/client/fault-evidence.ts';
import { writeKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin } from '../../src/client/pin.ts';
import { sha256 } from '../../src/client/sha256.ts';
import { type SignedHead, writeTreeHead } from '../../src/client/tree-head.ts';
import { checkpointTimestamped, entryOf } from '../../src/contract/critical-events.ts';
import { jcs } from '../../src/contract/jcs.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { timestampRequest, tokenOf } from '../../src/timestamps/request.ts';
import { encodeHead } from '../../src/tlog/head.ts';
import { formatVerifierKey } from '../../src/tlog/note.ts';
import { leafHash, nodeHash } from '../../src/tlog/tree.ts';
import { uuid7 } from '../../src/uuid.ts';
import { activeKey, rewrite } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { Authority } from '../timestamps/authority.ts';
import { cosignature } from '../witness/rogue-witness.ts';
import { keyPair } from '../witness/test-log.ts';
import { candor, command } from './candor.ts';
import { pinned } from './pinned.ts';

let log: ServedLog;
let folder: string;
let state: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = mkdtempSync(join(tmpdir(), 'candor-cli-'));
  state = join(folder, 'log.pin');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('candor verify and sth', () => {
  test('verifies online by position, id and bytes, then offline from the saved bundle', async () => {
    const ids = await log.append(4);
    const bundle = join(folder, 'bundle.json');
    const online = await candor('verify', '--url', log.url, '--leaf-index', '2', '--save', bundle, '--json');
    expect(online).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'ok', entry_id: ids[2], leaf_index: 2 },
    });
    expect((await command('verify', '--url', log.url, '--entry-id', ids[1]!)).code).toBe(exitCodes.ok);

    const { canonical } = JSON.parse(readFileSync(bundle, 'utf8')) as { canonical: string };
    const event = join(folder, 'event.json');
    writeFileSync(event, JSON.stringify(JSON.parse(Buffer.from(canonical, 'base64').toString()), undefined, 2));
    await pinned(log, state);
    const held = ['verify', '--url', log.url, '--event', event, '--pin', state, '--json'];
    expect(await command(...held)).toMatchObject({
      code: exitCodes.ok,
      json: { leaf_index: 2, consistent_with: 4 },
    });

    const keys = join(folder, 'keys.json');
    writeFileSync(keys, await (await fetch(`${log.url}/.well-known/jwks.json`)).text());
    const offline = ['verify', bundle, '--keys', keys, '--json'];
    expect(await candor(...offline)).toMatchObject({
      code: exitCodes.ok,
      json: { entry_id: ids[2], keys: 'given' },
    });
    writeFileSync(keys, '{"keys":[]}');
    expect(await command(...offline)).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNKNOWN_KEY' },
    });
    const byPin = await command('verify', bundle, '--pin', state, '--json');
    expect(byPin.json, byPin.stderr).toMatchObject({ keys: 'pin', consistent_with: 4 });
    expect((await command('verify', bundle, '--url', log.url)).code).toBe(exitCodes.usage);
    expect((await command('verify', join(folder, 'none.json'))).code).toBe(exitCodes.failed);
  });

  test('sth prints the head with all digits', async () => {
    expect(await command('sth', log.url, '--json')).toMatchObject({
      code: exitCodes.empty,
      json: { status: 'empty' },
    });
    await log.append(3);
    expect(await candor('sth', log.url, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { tree_size: 3 },
    });
  });
});

describe('candor verify of forged statements', () => {
  test('--pin: newer keys are not trusted, even if the forged tree extends the pinned tree', async () => {
    await log.append(3);
    await pinned(log, state);
    await forgeEntry(log);
    const asked = ['verify', '--url', log.url, '--leaf-index', '3', '--json'];
    expect(await command(...asked)).toMatchObject({ code: exitCodes.ok });
    expect(await command(...asked, '--pin', state)).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNVOUCHED_KEY' },
    });
  });

  test('--pin: a different tree of the pinned size leaves evidence of misbehaviour, offline and online', async () => {
    await log.append(3);
    await pinned(log, state);
    await log.tamper((data) => rewrite(data, (entries) => Object.assign(entries[1]!, { actor: 'mallory' })));
    const bundle = join(folder, 'bundle.json');
    const checkpoint = join(folder, 'checkpoint');
    const online = ['verify', '--url', log.url, '--leaf-index', '0', '--json'];
    expect(await command(...online, '--save', bundle)).toMatchObject({ code: exitCodes.ok });
    writeFileSync(checkpoint, await log.ledger.checkpoint());
    for (const asked of [['verify', bundle, '--json'], ['verify', checkpoint, '--json'], online]) {
      const found = await command(...asked, '--pin', state);
      expect(found).toMatchObject({
        code: exitCodes.misbehaviour,
        json: { code: 'FORK', convicts: true, evidence: expect.stringContaining(`${state}.evidence-`) },
      });
      const { evidence } = found.json as { evidence: string };
      expect(await command('verify', evidence, '--pin', state)).toMatchObject({
        code: exitCodes.misbehaviour,
      });
    }
  });

  test('--pin: the pin of another log is rejected, but not reported as misbehaviour', async () => {
    await log.append(1);
    await pinned(log, state);
    const other = await ServedLog.start();
    onTestFinished(() => other.close());
    await other.append(1);
    const asked = ['verify', '--url', other.url, '--leaf-index', '0', '--pin', state, '--json'];
    expect(await command(...asked)).toMatchObject({ code: exitCodes.refused, json: { code: 'OTHER_LOG' } });
  });

  test('--witness and --vkey are never ignored', async () => {
    await log.append(3);
    const { checkpoint_vkey: vkey } = await log.ledger.status();
    const bundle = join(folder, 'bundle.json');
    const archive = join(folder, 'archive.jsonl');
    const online = ['verify', '--url', log.url, '--leaf-index', '1', '--json'];
    expect(await command(...online, '--save', bundle, '--vkey', vkey)).toMatchObject({ code: exitCodes.ok });
    expect((await command('export', log.url, '--out', archive)).code).toBe(exitCodes.ok);
    expect(await command('verify', archive, '--vkey', vkey, '--json')).toMatchObject({ code: exitCodes.ok });
    const missed = { code: exitCodes.refused, json: { code: 'QUORUM_MISSED' } };
    expect(await command(...online, '--witness', witness)).toMatchObject(missed);
    expect(await command('verify', archive, '--witness', witness, '--json')).toMatchObject(missed);
    expect(await command('verify', bundle, '--vkey', vkey, '--json')).toMatchObject({ code: exitCodes.ok });
    expect(await command('verify', bundle, '--witness', witness, '--json')).toMatchObject(missed);
    const lines = readFileSync(archive, 'utf8');
    writeFileSync(archive, lines.replace(/"checkpoint":"[^"]*",/, ''));
    expect(await command('verify', archive, '--vkey', vkey, '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNSIGNED_CHECKPOINT' },
    });
  });

  test('escapes control characters in files, and warns that the keys are only claimed by the file', async () => {
    await log.append(1);
    const keys = JSON.parse(await (await fetch(`${log.url}/.well-known/jwks.json`)).text()) as object;
    const about = { format: 'candor-evidence/1', code: 'FORK', log: log.url, found_at: 'then' };
    const file = join(folder, 'evidence.json');
    writeFileSync(file, JSON.stringify({ ...about, message: '\x1b[2J\nConvicts: \u009b8m\u202e', ...keys }));
    const shown = await command('verify', file);
    expect(shown.code).toBe(exitCodes.refused);
    expect(shown.stdout).toContain('\\u001b[2J\\u000aConvicts: \\u009b8m\\u202e');
    expect(shown.stdout).toContain('only if all these fingerprints belong to that log');
  });

  test('rejects an entry that the served checkpoint is too small to cover', async () => {
    await log.append(2);
    const { checkpoint_vkey: vkey } = await log.ledger.status();
    const early = await (await fetch(`${log.url}/checkpoint`)).text();
    await log.append(1);
    log.lies = [{ path: '/checkpoint', tell: () => early }];
    const asked = (index: number) =>
      command('verify', '--url', log.url, '--leaf-index', String(index), '--vkey', vkey, '--json');
    expect(await asked(1)).toMatchObject({ code: exitCodes.ok });
    expect(await asked(2)).toMatchObject({ code: exitCodes.refused, json: { code: 'NOT_INCLUDED' } });
  });
});

const witness = formatVerifierKey(keyPair('witness.example/w', 4).public);

/**
 * Changes the log's responses as a man in the middle: adds the attacker's keys to the published keys, and a forged
 * entry to the tree of three entries.
 */
async function forgeEntry(of: ServedLog): Promise<void> {
  const [sth, event] = ['transparency-sth', 'event-signing'].map((purpose, i) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const kid = `01940000-0000-7000-8000-00000000ff0${i}`;
    const about = { svc_purpose: purpose, svc_state: 'active', svc_from_size: 3 };
    return { kid, jwk: { ...publicKey.export({ format: 'jwk' }), kid, ...about }, secret: privateKey };
  });
  const tile = Buffer.from(await (await fetch(`${of.url}/tile/0/000.p/3`)).arrayBuffer());
  const leaves = [0, 1, 2].map((i) => Uint8Array.from(tile.subarray(32 * i, 32 * (i + 1))));
  const entry = { id: 'forged', kind: 'alert.raised', key_id: event!.kid };
  const signature = sign(null, Buffer.from(jcs(entry)), event!.secret).toString('hex');
  const canonical = Buffer.from(jcs({ ...entry, signature }));
  const own = leafHash(sha256, canonical);
  const left = nodeHash(sha256, leaves[0]!, leaves[1]!);
  const right = nodeHash(sha256, leaves[2]!, own);
  const head = {
    size: 4,
    root: nodeHash(sha256, left, right),
    timestampNs: BigInt(of.now + 1000) * 1_000_000n,
  };
  const headSignature = Uint8Array.from(sign(null, encodeHead(head), sth!.secret));
  const hex = (...hashes: readonly Uint8Array[]) => hashes.map((hash) => Buffer.from(hash).toString('hex'));
  const answers: Readonly<Record<string, string>> = {
    '/api/transparency/sth': writeTreeHead({ ...head, signature: headSignature, signerKeyId: sth!.kid }),
    '/api/transparency/inclusion': JSON.stringify({
      tree_size: 4,
      leaf_index: 3,
      audit_path: hex(leaves[2]!, left),
    }),
    '/api/transparency/leaf': JSON.stringify({ leaf_index: 3, canonical: canonical.toString('base64') }),
    '/api/transparency/consistency': JSON.stringify({
      first_size: 3,
      second_size: 4,
      tree_size: 4,
      audit_path: hex(leaves[2]!, own, left),
    }),
  };
  of.lies = Object.entries(answers).map(([path, body]) => ({ path, tell: () => ({ status: 200, body }) }));
  of.lies.push({
    path: '/.well-known/jwks.json',
    tell: (body) => {
      const { keys } = JSON.parse(body) as { keys: object[] };
      return JSON.stringify({ keys: [...keys, sth!.jwk, event!.jwk] });
    },
  });
}

describe('candor verify of a checkpoint', () => {
  test('verifies with a key from another source, a key set, or the keys of a pin', async () => {
    await log.append(3);
    await pinned(log, state);
    const note = join(folder, 'checkpoint');
    const text = await (await fetch(`${log.url}/checkpoint`)).text();
    writeFileSync(note, text);
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, await (await fetch(`${log.url}/.well-known/jwks.json`)).text());
    const { checkpoint_vkey: vkey } = await log.ledger.status();
    await log.close();
    for (const by of [
      ['--vkey', vkey],
      ['--keys', keys],
      ['--pin', state],
    ]) {
      const verified = await command('verify', note, ...by, '--json');
      expect(verified.json, verified.stderr).toMatchObject({ status: 'ok', tree_size: 3, cosigned_by: [] });
    }
    expect((await command('verify', note)).code).toBe(exitCodes.usage);
    expect((await command('verify', note, '--vkey', `${vkey}x`)).code).toBe(exitCodes.usage);
    expect(await command('verify', note, '--vkey', vkey, '--quorum', '1', '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'QUORUM_MISSED' },
    });
    writeFileSync(note, text.replace('\n3\n', '\n4\n'));
    expect(await command('verify', note, '--vkey', vkey, '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNSIGNED_CHECKPOINT' },
    });
  });
});

describe('candor verify of a bundle with checkpoint and timestamps', () => {
  let authority: Authority;
  beforeEach(() => {
    authority = new Authority();
  });
  afterEach(() => authority.close());

  /** Appends an entry with a timestamp of the current checkpoint, as a timestamper does. */
  async function timestamp(): Promise<void> {
    const checkpoint = await log.ledger.checkpoint();
    const hash = sha256(new TextEncoder().encode(checkpoint));
    const token = Buffer.from(tokenOf(authority.reply(timestampRequest(hash, Uint8Array.of(1))))).toString('base64');
    const about = { authority: 'https://tsa.example', gen_time: new Date().toISOString(), token };
    const data = { ...about, checkpoint, checkpoint_sha256: Buffer.from(hash).toString('hex') };
    await log.ledger.append([entryOf(checkpointTimestamped(data), uuid7(Date.now()), Date.now())]);
  }

  async function saved(index: number): Promise<string> {
    const bundle = join(folder, `bundle-${index}.json`);
    const online = ['verify', '--url', log.url, '--leaf-index', String(index), '--save', bundle];
    expect(await command(...online)).toMatchObject({ code: exitCodes.ok });
    return bundle;
  }

  test('bounds the time of an entry on both sides; openssl and candor verify accept the extracted files', async () => {
    await log.append(2);
    const from = Math.floor(Date.now() / 1000) * 1000;
    await timestamp();
    await log.append(2);
    await timestamp();
    const bundle = await saved(4);
    const parts = join(folder, 'parts');
    const shown = await command('verify', bundle, '--tsa-ca', authority.ca, '--extract', parts, '--json');
    expect(shown, shown.stderr).toMatchObject({
      code: exitCodes.ok,
      json: { leaf_index: 4, timestamps_trusted: true, checkpoint: { published: true, tree_size: 6 } },
    });
    const [after, before] = [shown.json.logged_after, shown.json.logged_before].map((at) => Date.parse(String(at)));
    // The authority states an accuracy of 1.5 s.
    expect(after).toBeGreaterThanOrEqual(from - 1500);
    expect(before).toBeGreaterThanOrEqual(after!);
    expect(before).toBeLessThanOrEqual(Date.now() + 1500);

    for (const side of ['not-before-0', 'not-after-0']) {
      const files = ['-data', join(parts, `${side}.checkpoint`), '-in', join(parts, `${side}.token`), '-token_in'];
      const checked = execFileSync('openssl', ['ts', '-verify', ...files, '-CAfile', authority.ca], {
        stdio: 'pipe',
      });
      expect(checked.toString()).toContain('Verification: OK');
    }
    const { checkpoint_vkey: vkey } = await log.ledger.status();
    const proof = ['verify', join(parts, 'entry.tlog-proof'), '--vkey', vkey, '--json'];
    expect(await command(...proof, '--event', join(parts, 'entry.json'))).toMatchObject({
      code: exitCodes.ok,
      json: { leaf_index: 4, checkpoint: { tree_size: 6 } },
    });
    const other = join(folder, 'other.json');
    writeFileSync(other, '{}');
    expect(await command(...proof, '--event', other)).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'NOT_INCLUDED' },
    });
    expect((await command(...proof)).code).toBe(exitCodes.usage);
    // Files are never overwritten.
    expect((await command('verify', bundle, '--extract', parts)).code).toBe(exitCodes.failed);
  });

  test('evidence under an ended key is conclusive only if a cosignature or a timestamp predates the end', async () => {
    await log.append(3);
    await pinned(log, state);
    await timestamp();
    const pin = parsePin(readFileSync(state, 'utf8'));
    if (pin instanceof AuditFault) throw new Error(pin.message);
    let forged: SignedHead | undefined;
    await log.tamper((path) => {
      const signer = activeKey(path, 'transparency-sth');
      const other = { ...pin.head, root: new Uint8Array(32) };
      forged = { ...other, signature: Uint8Array.from(signer.sign(encodeHead(other))) };
    });
    const [now, later] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const witness = keyPair('witness.example/w', 4);
    log.lies = [{ path: '/checkpoint', tell: (note) => note + cosignature(note, witness) }];
    const signer = pin.keys.get(pin.head.signerKeyId)!;
    const ended = new Map([...pin.keys, [signer.kid, { ...signer, state: 'retired', notAfter: now! }]]);
    const fault = new AuditFault('FORK', 'two roots');
    const about = { code: fault.code, message: fault.message, log: log.url, foundAt: later!, head: forged! };
    const kept = async (name: string, more: Pick<Evidence, 'pinnedAt' | 'pinnedKeys' | 'keys'> & Partial<Evidence>) => {
      const { evidence } = await faultWithEvidence(
        { ...about, pinnedHead: pin.head, ...more },
        fault,
        httpLog(log.url),
      );
      writeFileSync(join(folder, name), evidence!);
      return (...args: string[]) => command('verify', join(folder, name), '--json', ...args);
    };
    const convicts = { code: exitCodes.misbehaviour, json: { convicts: true } };
    const acquits = { code: exitCodes.refused, json: { convicts: false } };

    // Only the pinned head lacks a proof that predates the key's end.
    const judged = await kept('late.json', {
      pinnedAt: later!,
      headSeenAt: now!,
      pinnedKeys: ended,
      keys: ended,
    });
    expect(await judged()).toMatchObject(acquits);
    const stamped = await judged('--tsa-ca', authority.ca);
    expect(stamped).toMatchObject(convicts);
    expect(stamped.json.basis).toEqual([
      expect.stringContaining('timestamped by https://tsa.example'),
      expect.stringContaining('Only the auditor'),
    ]);
    const cosigned = await judged('--witness', witness.vkey);
    expect(cosigned).toMatchObject(convicts);
    expect(String(cosigned.json.basis)).toContain('cosigned by witness.example/w');
    const stranger = await judged('--witness', keyPair('other.example/w', 4).vkey);
    expect(stranger).toMatchObject({ ...acquits, json: { not_counted: [{ code: 'QUORUM_MISSED' }] } });
    expect((await judged('--witness', witness.vkey, '--quorum', '2')).code).toBe(exitCodes.usage);

    // The auditor's pin was made before the key ended, and a proxy hides the end of the key from the auditor.
    const stale = await kept('stale.json', { pinnedAt: now!, pinnedKeys: pin.keys, keys: pin.keys });
    const alone = await stale();
    expect(alone).toMatchObject(convicts);
    expect(String(alone.json.basis)).toContain('--keys');
    const current = join(folder, 'current.json');
    writeFileSync(current, writeKeySet(ended.values()));
    expect(await stale('--keys', current, '--witness', witness.vkey)).toMatchObject(acquits);
  });

  test('--tsa-ca: only timestamps of these authorities are trusted; an invalid token is always rejected', async () => {
    await log.append(1);
    const bundle = await saved(0);
    const untrusted = { code: exitCodes.refused, json: { code: 'UNTRUSTED_TIMESTAMP' } };
    expect(await command('verify', bundle, '--tsa-ca', authority.ca, '--json')).toMatchObject(untrusted);
    await timestamp();
    const stamped = join(folder, 'stamped.json');
    writeFileSync(stamped, await (await fetch(`${log.url}/api/transparency/proof?leaf_index=0`)).text());
    expect(await command('verify', stamped, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { timestamps_trusted: false },
    });
    const stranger = new Authority();
    onTestFinished(() => stranger.close());
    expect(await command('verify', stamped, '--tsa-ca', stranger.ca, '--json')).toMatchObject(untrusted);

    const bundled = JSON.parse(
      readFileSync(stamped, 'utf8').replace(/"timestamp_ns":(\d+)/, '"timestamp_ns":"$1"'),
    ) as {
      timestamps: { not_after: { token: string }[] };
    };
    const token = Buffer.from(bundled.timestamps.not_after[0]!.token, 'base64');
    token[token.length - 1]! ^= 1;
    bundled.timestamps.not_after[0]!.token = token.toString('base64');
    writeFileSync(stamped, JSON.stringify(bundled).replace(/"timestamp_ns":"(\d+)"/, '"timestamp_ns":$1'));
    const wrong = { code: exitCodes.refused, json: { code: 'BAD_TIMESTAMP' } };
    expect(await command('verify', stamped, '--json')).toMatchObject(wrong);
    expect(await command('verify', stamped, '--tsa-ca', authority.ca, '--json')).toMatchObject(wrong);
    writeFileSync(join(folder, 'none.pem'), 'none');
    expect((await command('verify', stamped, '--tsa-ca', join(folder, 'none.pem'))).code).toBe(exitCodes.failed);
  });
});
