import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BackupError, DamagedBackupError } from '../../src/backup/backup-error.ts';
import { type Manifest, parseManifest, writeManifest } from '../../src/backup/manifest.ts';
import { limits } from '../../src/limits.ts';

const file = (name: string) => ({ name, size: 1, sha256: 'ab'.repeat(32) });
const keyFile = (n: number) => file(`keys/01940000-0000-7000-8000-${n.toString(16).padStart(12, '0')}.json`);
const manifest: Omit<Manifest, 'format'> = {
  id: '01940000-0000-7000-8000-000000000001',
  created_at: '2026-11-21T08:00:00.000Z',
  finished_at: '2026-11-21T08:00:01.000Z',
  actor: 'system',
  product_version: '1.0.0',
  private_keys: 'none',
  size: 4,
  events: { network: 2, dns: 1 },
  alerts: 1,
  sth: {
    tree_size: 7,
    root_hash: 'cd'.repeat(32),
    timestamp_ns: Number(1_795_250_250_697_999_360n),
    signature: 'ef'.repeat(64),
    signer_key_id: '01940000-0000-7000-8000-000000000002',
  },
  files: ['format.json', 'ledger.mdb', 'siem.mdb'].map(file).concat(keyFile(1)),
};
const text = writeManifest(manifest);

test("a manifest is read back as it was written, with all digits of the head's time", () => {
  expect(parseManifest(text)).toEqual({ format: 2, ...manifest });
  expect(text).toContain('"timestamp_ns":1795250250697999360,');
  const { sth: _none, ...empty } = manifest;
  expect(parseManifest(writeManifest(empty))).toEqual({ format: 2, ...empty });
});

test('the manifest parser distinguishes an unsupported format from damage', () => {
  expect(() => parseManifest(text.replace('"format":2', '"format":3'))).toThrow(/use a newer version/);
  expect(() => parseManifest(text.replace('"format":2', '"format":0'))).toThrow(DamagedBackupError);
});

test('the manifest parser reads the manifest of an earlier version', () => {
  const { private_keys: _none, ...earlier } = manifest;
  const written = writeManifest(earlier).replace('"format":2', '"format":1');
  expect(parseManifest(written)).toEqual({ format: 1, ...earlier });
});

test('the manifest parser requires each required file exactly once, and allows no files elsewhere', () => {
  const withFiles = (files: Manifest['files']) => () => parseManifest(writeManifest({ ...manifest, files }));
  expect(withFiles(manifest.files.filter(({ name }) => name !== 'siem.mdb'))).toThrow(/does not list siem\.mdb/);
  expect(withFiles([...manifest.files, file('siem.mdb')])).toThrow(/lists a file twice/);
  for (const name of ['../siem.mdb', '/etc/passwd', 'keys/../x.json', 'keys/a/b.json', 'siem.mdb/..', 'other'])
    expect(withFiles([...manifest.files, file(name)]), name).toThrow(DamagedBackupError);
  const many = Array.from({ length: limits.maxBackupFiles }, (_, n) => keyFile(n));
  expect(withFiles([...manifest.files.slice(0, 3), ...many.slice(3)])).not.toThrow();
  expect(withFiles([...manifest.files.slice(0, 3), ...many])).toThrow(DamagedBackupError);
});

test('the manifest parser rejects all other manifests as damaged', () => {
  const refused = (came: string) => {
    try {
      parseManifest(came);
    } catch (error) {
      expect(error).toBeInstanceOf(BackupError);
    }
  };
  fc.assert(fc.property(fc.string(), refused));
  fc.assert(fc.property(fc.json(), refused));
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) =>
      refused(text.slice(0, at) + letter + text.slice(at + 1)),
    ),
  );
  fc.assert(fc.property(fc.nat(text.length), (end) => refused(text.slice(0, end))));
});
