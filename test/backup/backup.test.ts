import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseManifest } from '../../src/backup/manifest.ts';
import { backUp, newFolder, openParts, restore } from './fixture.ts';
import { checkAlerts } from './logged-alerts.ts';
import { alertsOf, startWriters } from './writers.ts';

test('a backup has every file with its hash, no other files, and is readable only by its owner', async () => {
  const parts = await openParts(newFolder());
  await parts.store.commit(alertsOf(0, 3));
  parts.pump.wake();
  await parts.pump.idle();
  const { id, attributes } = await backUp(parts);
  expect(attributes).toMatchObject({ state: 'completed', events: 3, alerts: 3, sth: { tree_size: 3 } });
  expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([expect.stringMatching(new RegExp(`Z-${id}$`))]);
  const path = attributes.path!;
  const manifest = parseManifest(readFileSync(join(path, 'manifest.json'), 'utf8'));
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(path.length + 1));
  expect(names.sort()).toEqual([...manifest.files.map(({ name }) => name), 'manifest.json'].sort());
  for (const { name, size, sha256 } of manifest.files) {
    const bytes = readFileSync(join(path, name));
    expect({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }).toEqual({
      size,
      sha256,
    });
    expect(statSync(join(path, name)).mode & 0o777, name).toBe(0o600);
  }
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const leaf = await parts.ledger.leaf({ entry_id: id });
  expect(JSON.parse(Buffer.from(leaf.canonical).toString())).toMatchObject({
    kind: 'backup.created',
    subject: { type: 'backup', id },
    data: {
      size: attributes.size,
      files: manifest.files.length,
      manifest_sha256: createHash('sha256')
        .update(readFileSync(join(path, 'manifest.json')))
        .digest('hex'),
      sth: { tree_size: 3 },
    },
  });
  expect(attributes.transparency).toMatchObject({ leaf_index: leaf.leaf_index, leaf_hash: leaf.leaf_hash });
});

test('backups taken during writes are complete, with every critical event in the copied log or outbox', async () => {
  const parts = await openParts(newFolder());
  // A backup takes about a second, so that it has dozens of writes.
  const writers = startWriters(parts, 10, 100);
  const paths: string[] = [];
  for (let n = 0; n < 3; n++) {
    await writers.progress();
    const { attributes } = await backUp(parts);
    expect(attributes.error).toBeUndefined();
    paths.push(attributes.path!);
  }
  const sent = await writers.stop();
  expect(parts.findings).toEqual([]);
  await parts.close();

  let before = 0;
  for (const path of paths) {
    const dataDir = newFolder();
    await restore(path, dataDir);
    const restored = await openParts(dataDir);
    restored.pump.wake();
    await restored.pump.idle();
    const alerts = await checkAlerts(restored);
    expect(alerts).toBeGreaterThanOrEqual(before);
    expect(alerts).toBeLessThanOrEqual(sent);
    before = alerts;
    expect(restored.findings).toEqual([]);
    await restored.close();
  }
  expect(before).toBeGreaterThan(0);
});
