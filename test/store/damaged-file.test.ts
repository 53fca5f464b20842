import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/lmdb/store.ts';

test.each([
  ['is no database', Buffer.alloc(5000, 'x')],
  ['was cut short', Buffer.alloc(10)],
])('a file that %s is refused with a line that names it', (_, bytes) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const file = join(dataDir, 'siem.mdb');
  writeFileSync(file, bytes);
  expect(() => openStore({ dataDir, alertWindowMs: 1000 })).toThrow(`${file} is damaged (`);
});
