/** Backups contain no private keys, except encrypted to the recipients configured by the operator. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { manifestFile, parseManifest } from '../../src/backup/manifest.ts';
import { checkRecipients } from '../../src/backup/private-keys.ts';
import { entries } from '../ledger/fixture.ts';
import { purposes, TestAgent, withoutAgent } from '../ssh-agent/agent.ts';
import { backUp, newFolder, openParts, type Parts, restore } from './fixture.ts';

interface KeyFile {
  readonly kid: string;
  readonly svc_state: string;
  readonly d?: string;
  readonly svc_encrypted?: string;
}
const keysIn = (folder: string): KeyFile[] =>
  readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));

/** Returns every file of a folder, by name. */
const filesIn = (folder: string): [string, Buffer][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => [item.name, readFileSync(join(item.parentPath, item.name))]);

/** Returns the files that contain the private part of a key in any encoding, or its encrypted form. */
function leaks(folder: string, keys: readonly KeyFile[], least = 4): string[] {
  const needles = keys.flatMap(({ d, svc_encrypted }) => {
    if (d === undefined) return svc_encrypted === undefined ? [] : [Buffer.from(svc_encrypted)];
    const raw = Buffer.from(d, 'base64url');
    const texts = [d, raw.toString('base64'), raw.toString('hex'), raw.toString('hex').toUpperCase()];
    return [raw, ...texts.map((text) => Buffer.from(text))];
  });
  expect(needles.length).toBeGreaterThanOrEqual(least);
  return filesIn(folder)
    .filter(([, bytes]) => needles.some((needle) => bytes.includes(needle)))
    .map(([name]) => name);
}

async function backedUp(parts: Parts) {
  await parts.ledger.append(entries(0, 3));
  const { attributes } = await backUp(parts);
  expect(attributes.state).toBe('completed');
  const path = attributes.path!;
  return { path, attributes, manifest: parseManifest(readFileSync(join(path, manifestFile), 'utf8')) };
}

/** Returns an identity file as age-keygen writes it. */
function identityFile(identity: string): string {
  const path = join(newFolder(), 'identity.txt');
  writeFileSync(path, `# created: 2026-11-20T08:00:00Z\n# public key: age1…\n${identity}\n`);
  return path;
}

test.each([undefined, 'a passphrase of some length'])(
  'a backup made with the passphrase %s has no private keys',
  async (keyPassphrase) => {
    const parts = await openParts(newFolder(), {
      ledger: keyPassphrase === undefined ? {} : { keyPassphrase },
    });
    const { path, attributes, manifest } = await backedUp(parts);
    const keys = keysIn(join(parts.dataDir, 'keys'));
    expect(leaks(join(parts.dataDir, 'keys'), keys)).toHaveLength(4);
    expect(leaks(path, keys)).toEqual([]);
    expect(keysIn(join(path, 'keys')).map(({ kid }) => kid)).toEqual(keys.map(({ kid }) => kid));
    expect(attributes.private_keys).toBe('none');
    expect(manifest.private_keys).toBe('none');
  },
);

test('with recipients, the private keys are in keys.age, which each recipient can decrypt', async () => {
  const identities = [await generateX25519Identity(), await generateX25519Identity()];
  const recipients = await Promise.all(identities.map(identityToRecipient));
  const parts = await openParts(newFolder(), { backups: { recipients } });
  const { path, attributes, manifest } = await backedUp(parts);
  const keys = keysIn(join(parts.dataDir, 'keys'));
  expect(leaks(path, keys)).toEqual([]);
  expect([attributes.private_keys, manifest.private_keys]).toEqual(['encrypted', 'encrypted']);
  expect(manifest.files.map(({ name }) => name)).toContain('keys.age');
  expect(statSync(join(path, 'keys.age')).mode & 0o777).toBe(0o600);
  for (const identity of identities) {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    const lines = await decrypter.decrypt(readFileSync(join(path, 'keys.age')), 'text');
    const opened = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as KeyFile);
    expect(opened).toEqual(keys);
  }
});

test('a restored log signs with new keys; --identity extracts the old keys', async () => {
  const identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  const parts = await openParts(newFolder(), { backups: { recipients } });
  const { path } = await backedUp(parts);
  const old = keysIn(join(parts.dataDir, 'keys'));
  const head = await parts.ledger.head();
  await parts.close();

  const wrong = identityFile(await generateX25519Identity());
  const dataDir = newFolder();
  await expect(restore(path, dataDir, { identityFile: wrong })).rejects.toThrow(/no identity in .* decrypts keys\.age/);
  expect(readdirSync(dataDir)).toEqual(['format.json', 'lock']);

  const { privateKeys } = await restore(path, dataDir, { identityFile: identityFile(identity) });
  expect(keysIn(privateKeys!)).toEqual(old);
  expect(statSync(privateKeys!).mode & 0o777).toBe(0o700);
  const restored = await openParts(dataDir);
  expect((await restored.ledger.status()).health).toEqual({ state: 'ok' });
  await restored.ledger.append(entries(3, 5));
  expect((await restored.ledger.head()).signer_key_id).not.toBe(head.signer_key_id);
  expect(leaks(join(dataDir, 'keys'), old)).toEqual([]);
});

test('extracting keys from a backup without private keys is rejected', async () => {
  const parts = await openParts(newFolder());
  const { path } = await backedUp(parts);
  const file = identityFile(await generateX25519Identity());
  await expect(restore(path, newFolder(), { identityFile: file })).rejects.toThrow(/has no keys\.age/);
  expect(existsSync(join(path, 'keys.age'))).toBe(false);
});

test.each([undefined, 'a passphrase of some length'])(
  'a backup of an earlier version is restored without its private keys, with the passphrase %s',
  async (keyPassphrase) => {
    const parts = await openParts(newFolder(), {
      ledger: keyPassphrase === undefined ? {} : { keyPassphrase },
    });
    const { path } = await backedUp(parts);
    const old = keysIn(join(parts.dataDir, 'keys'));
    await parts.close();
    asEarlierVersion(path, old);
    expect(leaks(path, old)).toHaveLength(4);
    const dataDir = newFolder();
    await restore(path, dataDir);
    const { ledger } = await openParts(dataDir);
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    await ledger.append(entries(3, 5));
    expect(leaks(dataDir, old)).toEqual([]);
  },
);

/** Changes a backup to format 1: the key files are copies, and the manifest does not mention private keys. */
function asEarlierVersion(path: string, keys: readonly KeyFile[]): void {
  let text = readFileSync(join(path, manifestFile), 'utf8')
    .replace('"format":2', '"format":1')
    .replace('"private_keys":"none",', '');
  for (const key of keys) {
    const name = `keys/${key.kid}.json`;
    const content = `${JSON.stringify(key)}\n`;
    const sha256 = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(path, name), content);
    text = text.replace(
      new RegExp(`\\{"name":"${name}"[^}]*\\}`),
      JSON.stringify({ name, size: content.length, sha256 }),
    );
  }
  writeFileSync(join(path, manifestFile), text);
}

test('the error for an invalid recipient names the recipient', async () => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  await checkRecipients([recipient]);
  const mistyped = `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`;
  await expect(checkRecipients([recipient, mistyped])).rejects.toThrow(`backup.recipient: ${mistyped}`);
});

test.skipIf(withoutAgent !== undefined)(
  'a restored log signs with different agent keys than the log in the backup',
  async () => {
    const agent = await TestAgent.start();
    agent.provision();
    const options = { agent: { socket: agent.socket, purposes, keys: [] } };
    const parts = await openParts(newFolder(), { ledger: options });
    const { path } = await backedUp(parts);
    const old = (await parts.ledger.keys()).map(({ x }) => x);
    await parts.close();
    expect(leaks(path, keysIn(join(parts.dataDir, 'keys')), 1)).toEqual([]);
    const dataDir = newFolder();
    await expect(restore(path, dataDir, options)).rejects.toThrow('ssh-keygen -t ed25519');
    agent.provision();
    expect(await restore(path, dataDir, options)).toMatchObject({ resumed: false });
    const { ledger } = await openParts(dataDir, { ledger: options });
    await ledger.append(entries(3, 5));
    const signing = (await ledger.keys()).filter(({ svc_state }) => svc_state === 'active');
    expect(signing).toHaveLength(4);
    for (const { x } of signing) expect(old).not.toContain(x);
  },
);
