/** Key files: content, permissions, and encryption. */
import { createDecipheriv, pbkdf2Sync } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resourceTypes } from '../../src/contract/resource-types.ts';
import { JsonWebKeySet } from '../../src/contract/resources/transparency.ts';
import { validate } from '../../src/contract/validate.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { KeyFileError, parseKeyFile } from '../../src/ledger/keys/key-file.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { parseVerifierKey } from '../../src/tlog/note.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { keyEntries } from './audited.ts';
import { useFewerRounds } from './fewer-rounds.ts';
import { codeOf, entries, entry, folder, open, rawKey } from './fixture.ts';
import { reverify } from './reverify.ts';

type File = Record<string, string | number | undefined>;

const namesOf = (dataDir: string) => readdirSync(join(dataDir, 'keys')).sort();
const filesOf = (dataDir: string): File[] =>
  namesOf(dataDir).map((name) => JSON.parse(readFileSync(join(dataDir, 'keys', name), 'utf8')));
const write = (dataDir: string, file: File) =>
  writeFileSync(join(dataDir, 'keys', `${file.kid}.json`), JSON.stringify(file));
/** Returns every file of the folder, as text. */
const everything = (dataDir: string): string =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => readFileSync(join(item.parentPath, item.name), 'latin1'))
    .join('\n');

/** Creates a closed log without entries, in a folder that the caller removes. */
async function closedLog(options: Partial<LedgerOptions> = {}): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-keys-'));
  await (await openLedger({ dataDir, ...options })).close();
  return dataDir;
}

/** Copies a closed log to a folder that is removed after the test. */
function copyOf(dataDir: string): string {
  const copy = folder();
  cloneFolder(dataDir, copy);
  return copy;
}

describe('the key set', () => {
  test('has the four keys of a new log, each with the fingerprint shown to operators', async () => {
    const ledger = await open(folder());
    const keys = await ledger.keys();
    validate(JsonWebKeySet, { keys });
    const records = await ledger.keyRecords();
    for (const record of records) validate(resourceTypes.key, record);
    expect(records.map(({ kid }) => kid)).toEqual(keys.map(({ kid }) => kid));
    for (const { kid, fingerprint } of records) expect(bytesToHex(sha256(rawKey(keys, kid)))).toBe(fingerprint);
    const checkpoint = keys.find(({ svc_purpose }) => svc_purpose === 'checkpoint')!;
    expect(checkpoint.svc_origin).toBe(`candor.log/${checkpoint.kid}`);
    const { checkpoint_vkey } = await ledger.status();
    expect(parseVerifierKey(sha256, checkpoint_vkey)).toMatchObject({
      name: checkpoint.svc_origin,
      publicKey: rawKey(keys, String(checkpoint.kid)),
    });
  });

  test('lists every key ever used, in the same order after each start, without private keys', async () => {
    const dataDir = folder();
    const ledger = await open(dataDir);
    const secrets = filesOf(dataDir).map(({ d }) => d!);
    for (const purpose of ['transparency-sth', 'event-signing', 'access-token'] as const) {
      await ledger.rotateKey(purpose, 'ann');
      secrets.push(...filesOf(dataDir).flatMap(({ d }) => d ?? []));
    }
    await ledger.revokeKey((await ledger.keyRecords())[0]!.kid, 'stolen', 'ann');
    const [keys, records] = [await ledger.keys(), await ledger.keyRecords()];
    expect(keys.length).toBeGreaterThanOrEqual(7);
    validate(JsonWebKeySet, { keys });
    const { verifying } = await ledger.accessTokenKeys();
    const { size } = await ledger.status();
    const leaves = await Promise.all(
      Array.from({ length: size }, async (_, n) => Buffer.from((await ledger.leaf({ leaf_index: n })).canonical)),
    );
    const shown = JSON.stringify([keys, records, verifying, await ledger.status()]) + leaves.join('');
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(new Set(keys.flatMap(Object.keys))).toEqual(
      new Set([
        ...['kty', 'crv', 'x', 'kid', 'use', 'alg', 'svc_purpose', 'svc_state', 'svc_from_size', 'svc_to_size'],
        ...['svc_not_before', 'svc_not_after', 'svc_revoked_at', 'svc_origin'],
      ]),
    );
    await ledger.close();
    for (let start = 0; start < 2; start++) {
      const again = await open(dataDir);
      expect(await again.keys()).toEqual(keys);
      expect(await again.keyRecords()).toEqual(records);
      await again.close();
    }
  });

  test('has the configured name of the log, including after a change of the setting', async () => {
    const dataDir = folder();
    const first = await open(dataDir, { origin: 'log.example/one' });
    expect((await first.status()).checkpoint_vkey).toMatch(/^log\.example\/one\+/);
    await first.close();
    const unchanged = await open(dataDir);
    expect((await unchanged.status()).checkpoint_vkey).toMatch(/^log\.example\/one\+/);
    await unchanged.close();
    const renamed = await open(dataDir, { origin: 'log.example/two' });
    expect((await renamed.status()).checkpoint_vkey).toMatch(/^log\.example\/two\+/);
    expect(await renamed.keys()).toHaveLength(4);
  });
});

describe('key files', () => {
  test('a folder older than checkpoint keys gets a checkpoint key, once and without an entry', async () => {
    const dataDir = folder();
    const old = await open(dataDir);
    await old.append(entries(0, 3));
    await old.close();
    for (const { svc_created: _later, ...file } of filesOf(dataDir)) {
      if (file.svc_purpose === 'checkpoint') rmSync(join(dataDir, 'keys', `${file.kid}.json`));
      else write(dataDir, file);
    }
    const ledger = await open(dataDir);
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    const keys = await ledger.keys();
    expect(keys.filter(({ svc_purpose }) => svc_purpose === 'checkpoint')).toHaveLength(1);
    expect(await keyEntries(ledger)).toEqual([]);
    await ledger.rotateKey('transparency-sth', 'ann');
    await ledger.close();
    expect(await (await open(dataDir)).keys()).toHaveLength(5);
  });

  /** A closed log without entries. */
  let closed: string;
  beforeAll(async () => {
    closed = await closedLog();
  });
  afterAll(() => rmSync(closed, { recursive: true }));

  test.each(['checkpoint', 'transparency-sth', 'event-signing', 'access-token'])(
    'a lost %s key degrades the log and is not replaced',
    async (purpose) => {
      const dataDir = copyOf(closed);
      const file = filesOf(dataDir).find(({ svc_purpose }) => svc_purpose === purpose)!;
      rmSync(join(dataDir, 'keys', `${file.kid}.json`));
      const ledger = await open(dataDir);
      expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'lost' });
      expect(namesOf(dataDir)).toHaveLength(3);
      expect((await ledger.accessTokenKeys()).current.kty).toBe('OKP');
    },
  );

  test('leftovers of an interrupted write are removed', async () => {
    const dataDir = copyOf(closed);
    const [name] = namesOf(dataDir);
    copyFileSync(join(dataDir, 'keys', name!), join(dataDir, 'keys', `${name}.new`));
    const ledger = await open(dataDir);
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    expect(namesOf(dataDir)).toHaveLength(4);
  });

  test.each([
    ['kty', 'EC'],
    ['crv', 'X25519'],
    ['kid', 'me'],
    ['x', 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['x', 'AA'],
    ['d', 'AA'],
    ['svc_purpose', 'lunch'],
    ['svc_purpose', undefined],
    ['svc_state', 'resting'],
    ['svc_state', 'pending'],
    ['svc_from_size', -1],
    ['svc_to_size', 1.5],
    ['svc_not_before', 'yesterday'],
    ['svc_not_after', 7],
    ['svc_encrypted', 7],
    ['svc_succession', 'none'],
    ['svc_ending', 'none'],
    ['svc_entries', 'none'],
  ])('a file with %s %j is damaged, and the other keys are still served', async (name, value) => {
    const dataDir = copyOf(closed);
    const [file] = filesOf(dataDir);
    writeFileSync(join(dataDir, 'keys', `${file!.kid}.json`), JSON.stringify({ ...file, [name]: value }));
    const ring = KeyRing.load(join(dataDir, 'keys'));
    expect(ring.damaged).toEqual([expect.stringContaining(String(file!.kid))]);
    const ledger = await open(dataDir);
    expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'corrupt' });
    expect((await ledger.keys()).length).toBeGreaterThanOrEqual(3);
  });

  test('any text is parsed as a key or causes a KeyFileError', () => {
    const parse = (text: string) => {
      try {
        parseKeyFile(text);
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
      }
    };
    const names = ['kty', 'crv', 'x', 'd', 'kid', 'svc_state', 'svc_entries', 'svc_ending', 'svc_succession'];
    fc.assert(fc.property(fc.string(), parse));
    fc.assert(fc.property(fc.json(), parse));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.jsonValue()), (object) => {
        const good = { kty: 'OKP', crv: 'Ed25519', kid: '018f0000-0000-7000-8000-000000000001' };
        parse(JSON.stringify(object));
        parse(JSON.stringify({ ...good, ...object }));
      }),
    );
  });
});

describe('encryption', () => {
  const passphrase = 'correct horse bättery';
  /** Closed logs with encrypted keys: as the product writes them, and with fewer rounds of key derivation. */
  let usual: string;
  let fast: string;
  beforeAll(async () => {
    usual = await closedLog({ keyPassphrase: passphrase.normalize('NFC') });
    fast = mkdtempSync(join(tmpdir(), 'candor-keys-'));
    cloneFolder(usual, fast);
    await useFewerRounds(fast, passphrase);
  });
  afterAll(() => {
    for (const dataDir of [usual, fast]) rmSync(dataDir, { recursive: true });
  });

  test('no private key is readable on disk, and the log works', async () => {
    const dataDir = folder();
    const ledger = await open(dataDir, { keyPassphrase: passphrase });
    await ledger.append(entries(0, 3));
    await ledger.rotateKey('event-signing', 'ann');
    const { kid } = (await ledger.keyRecords()).find(({ purpose }) => purpose === 'transparency-sth')!;
    await ledger.revokeKey(kid, 'stolen', 'ann');
    const secret = String((await ledger.accessTokenKeys()).current.d);
    await ledger.close();
    const files = filesOf(dataDir);
    expect(files.every(({ d }) => d === undefined)).toBe(true);
    for (const { svc_state, svc_encrypted } of files)
      expect(typeof svc_encrypted).toBe(svc_state === 'active' ? 'string' : 'undefined');
    expect(everything(dataDir)).not.toContain(secret);
    const again = await open(dataDir, { keyPassphrase: passphrase });
    await again.append([entry(3)]);
    await reverify(again);
    expect((await again.accessTokenKeys()).current.d).toBe(secret);
  });

  test('the file conforms to RFC 7517 appendix C, and can be decrypted without our code', async () => {
    const [file] = filesOf(usual);
    const [protect, key, iv, text, tag] = String(file!.svc_encrypted).split('.') as [
      string,
      string,
      string,
      string,
      string,
    ];
    const bytes = (part: string) => Buffer.from(part, 'base64url');
    const header = JSON.parse(bytes(protect).toString());
    expect(header).toMatchObject({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', cty: 'jwk+json' });
    expect(header.p2c).toBeGreaterThanOrEqual(210_000);
    expect(bytes(header.p2s).length).toBeGreaterThanOrEqual(16);
    const salt = Buffer.concat([Buffer.from(`${header.alg}\0`), bytes(header.p2s)]);
    const wrapping = pbkdf2Sync(passphrase, salt, header.p2c, 32, 'sha512');
    const unwrap = createDecipheriv('id-aes256-wrap', wrapping, Buffer.alloc(8, 0xa6));
    const content = createDecipheriv(
      'aes-256-gcm',
      Buffer.concat([unwrap.update(bytes(key)), unwrap.final()]),
      bytes(iv),
    );
    content.setAAD(Buffer.from(protect));
    content.setAuthTag(bytes(tag));
    const jwk = JSON.parse(Buffer.concat([content.update(bytes(text)), content.final()]).toString());
    expect(jwk).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      kid: file!.kid,
      x: file!.x,
      d: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test('plain files are encrypted at the first start with a passphrase', async () => {
    const dataDir = folder();
    const before = await open(dataDir);
    await before.append(entries(0, 3));
    const keys = await before.keys();
    await before.close();
    const secrets = filesOf(dataDir).map(({ d }) => d!);
    expect(secrets).toHaveLength(4);
    const ledger = await open(dataDir, { keyPassphrase: passphrase });
    expect(await ledger.keys()).toEqual(keys);
    for (const secret of secrets) expect(everything(dataDir)).not.toContain(secret);
    for (const name of namesOf(dataDir)) expect(statSync(join(dataDir, 'keys', name)).mode & 0o777).toBe(0o600);
    await ledger.append([entry(3)]);
    await reverify(ledger);
  });

  test.each([undefined, 'wrong horse'])(
    'with passphrase %j the start fails with a one-line message, and changes nothing',
    async (wrong) => {
      const dataDir = copyOf(fast);
      const before = filesOf(dataDir);
      const failing = openLedger({ dataDir, ...(wrong === undefined ? {} : { keyPassphrase: wrong }) });
      await expect(failing).rejects.toThrow(/^[^\n]*CANDOR_KEY_PASSPHRASE[^\n]*$/);
      expect(filesOf(dataDir)).toEqual(before);
      rmSync(join(dataDir, 'ledger.mdb')); // sign-in needs the old keys even without ledger.mdb
      await expect(openLedger({ dataDir })).rejects.toThrow('CANDOR_KEY_PASSPHRASE');
    },
  );

  test('a passphrase is the same in every Unicode normalisation', async () => {
    const ledger = await open(copyOf(fast), { keyPassphrase: passphrase.normalize('NFD') });
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
  });

  test('a private key that is invalid or belongs to another key is reported as damage', async () => {
    const dataDir = copyOf(fast);
    const [one, other] = filesOf(dataDir);
    const bombs = Buffer.from(JSON.stringify({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', p2s: 'AAAA', p2c: 2e9 }));
    for (const svc_encrypted of [other!.svc_encrypted, 'x', `${bombs.toString('base64url')}.A.A.A.A`]) {
      write(dataDir, { ...one!, svc_encrypted });
      const ledger = await open(dataDir, { keyPassphrase: passphrase });
      expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'corrupt' });
      expect(await codeOf(ledger.append([entry(0)]))).toBe('UNAVAILABLE');
      await ledger.close();
    }
  });

  test('reading public keys does not need a passphrase', async () => {
    const dataDir = copyOf(fast);
    const ledger = await open(dataDir, { keyPassphrase: passphrase });
    const ring = KeyRing.load(join(dataDir, 'keys'));
    expect(ring.damaged).toEqual([]);
    expect(ring.publicJwks()).toEqual(await ledger.keys());
    expect(ring.active('event-signing')).toBeUndefined();
  });
});
