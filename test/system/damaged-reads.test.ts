import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startService } from '../../scripts/service.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { flipInPlace, logIn } from '../ledger/damaged-log.ts';

test('a running service returns 500 instead of a damaged hash, and its health shows the finding', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-damaged-'));
  try {
    const log = await logIn(dataDir, 600);
    const service = await startService({ dataDir });
    try {
      const inclusion = `${service.url}/api/transparency/inclusion?leaf_index=76&tree_size=600`;
      expect((await fetch(inclusion)).status).toBe(200);
      const other = `${service.url}/api/transparency/inclusion?leaf_index=300&tree_size=600`;
      expect((await fetch(other)).status).toBe(200); // the page of leaf 76 must be read from disk again
      flipInPlace(log, leafHash(sha256, log.canonical[77]!), 0);
      const answer = await fetch(inclusion);
      expect([answer.status, await answer.json()]).toEqual([
        500,
        expect.objectContaining({
          error: expect.objectContaining({ code: 'INTERNAL', details: { reason: 'data_damaged' } }),
        }),
      ]);
      const health = async () => (await fetch(`${service.url}/health`)).json();
      await expect.poll(health, { timeout: 60_000 }).toMatchObject({
        status: 'ok',
        // The missing siem.mdb is a finding as well.
        findings: expect.arrayContaining([
          expect.objectContaining({ code: 'data_damaged', message: expect.stringContaining('page 0/0') }),
        ]),
      });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
