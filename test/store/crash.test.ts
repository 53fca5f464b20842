import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import { openReader } from '../../src/store/reader.ts';
import { openStore } from '../../src/store/writer.ts';
import { everything, hour, resources } from './opened.ts';

const child = new URL('crash-child.ts', import.meta.url).pathname;

/**
 * Runs the writer until it has acknowledged `acks` batches, waits for a random time, then kills the writer.
 */
async function runAndKill(dataDir: string, from: number, acks: number): Promise<number[]> {
  const writer = spawn(process.execPath, [child, dataDir, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: number[] = [];
  const done = new Promise((resolve) => writer.once('close', resolve));
  for await (const line of createInterface({ input: writer.stdout })) {
    acknowledged.push(Number(line));
    if (acknowledged.length === acks) setTimeout(() => writer.kill('SIGKILL'), Math.random() * 20);
  }
  await done;
  return acknowledged;
}

test('kill -9 at random moments: acknowledged batches are complete and stored once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-crash-'));
  const acknowledged: number[] = [];
  for (let round = 0; round < 4; round++) acknowledged.push(...(await runAndKill(dataDir, (round + 1) * 10_000, 20)));
  expect(acknowledged.length).toBeGreaterThanOrEqual(80);

  const store = openStore({ dataDir, alertWindowMs: hour });
  const reader = openReader(dataDir);
  const ports = numbers(reader, 'events');
  const alertPorts = numbers(reader, 'alerts');
  const rows = await store.outbox(100_000);
  expect(new Set(ports).size).toBe(ports.length);
  // Batches commit as a whole: each event has its alert and its outbox row.
  expect(new Set(alertPorts)).toEqual(new Set(ports));
  expect(alertPorts).toHaveLength(ports.length);
  expect(new Set(rows.map(({ data }) => data.src_port))).toEqual(new Set(ports));
  expect(rows).toHaveLength(ports.length);
  const there = new Set(ports);
  expect(acknowledged.filter((port) => !there.has(port))).toEqual([]);
  expect(reader.head('events.network')).toBe(ports.length);
  expect(reader.head('alerts')).toBe(ports.length);
  expect(await store.status()).toMatchObject({
    events: { network: ports.length },
    alerts: ports.length,
    outbox: ports.length,
  });
  reader.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});

function numbers(reader: ReturnType<typeof openReader>, of: 'events' | 'alerts'): number[] {
  const all: number[] = [];
  for (let page = 1; ; page++) {
    const query = { ...everything, page };
    const got =
      of === 'alerts'
        ? reader.listAlerts(query)
        : reader.listEvents({ ...query, table: 'network', filter: { terms: [] } });
    all.push(...resources<Alert | NetworkEvent>(got).map(({ attributes }) => attributes.src_port!));
    if (all.length >= got.total) return all;
  }
}
