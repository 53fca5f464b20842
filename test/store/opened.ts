import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Detector } from '../../src/detect/behaviour/detector.ts';
import type { Finding } from '../../src/events/finding.ts';
import type { Bounds } from '../../src/store/lmdb/expiry.ts';
import { openReader } from '../../src/store/lmdb/reader.ts';
import { openStore } from '../../src/store/lmdb/store.ts';
import type { IngestBatch, ListQuery, Principal, Store, StoreReader } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';

export const hour = 3_600_000;
export const start = Date.UTC(2026, 10, 20);
export const analyst = { id: '01900000-0000-7000-8000-00000000000a', name: 'ana' };

export interface Opened {
  readonly dataDir: string;
  readonly store: Store;
  readonly reader: StoreReader;
  /** The store's clock; tests move it. */
  readonly clock: { now: number };
}

/** A store in its own folder, closed and removed when the test ends. */
export function opened(
  options: {
    alertWindowMs?: number;
    maxOutboxRows?: number;
    maxAuditRecords?: number;
    maxReceipts?: number;
    receiptIntervalMs?: number;
    freeBytes?: () => number;
    home?: readonly string[];
    detectors?: () => readonly Detector[];
    eventsPerDetectorState?: number;
    retention?: Bounds;
    steadyMs?: () => number;
  } = {},
): Opened {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  const clock = { now: start };
  const now = () => clock.now;
  const store = openStore({ dataDir, alertWindowMs: hour, clock: now, steadyMs: now, ...options });
  const reader = openReader(dataDir);
  onTestFinished(async () => {
    reader.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  return { dataDir, store, reader, clock };
}

export function administrator(): Principal {
  return {
    id: uuid7(start),
    name: 'admin',
    kind: 'user',
    roles: ['admin'],
    status: 'active',
    created_at: new Date(start).toISOString(),
  };
}

export function finding(changes: Partial<Finding> = {}): Finding {
  return {
    rule_id: '1:2200073',
    rule_name: 'SURICATA invalid checksum',
    rule_source: 'suricata',
    title: 'Invalid checksum',
    severity: 'low',
    timestamp: start,
    src_ip: '192.0.2.1',
    src_port: 4711,
    dst_ip: '198.51.100.1',
    dst_port: 22,
    transport: 'tcp',
    ...changes,
  };
}

export function batchOf(findings: readonly Finding[], more: Partial<IngestBatch> = {}): IngestBatch {
  return {
    blocks: [],
    findings,
    answer: { accepted: findings.length, rejected: 0, ignored: 0, duplicates: 0, errors: [] },
    ...more,
  };
}

export const everything: ListQuery = {
  terms: [],
  sort: 'first_seen',
  order: 'asc',
  per_page: 1000,
  page: 1,
};

/** Everything, newest first: for resources with a `created_at`, for tokens, for audit records. */
export const newest: ListQuery = { terms: [], sort: 'created_at', order: 'desc', per_page: 1000, page: 1 };
export const allTokens: ListQuery = { ...newest, sort: 'issued_at' };
export const allRecords: ListQuery = { ...newest, sort: 'time' };

export interface Resource<T> {
  readonly id: string;
  readonly type: string;
  readonly attributes: T;
}

export function resources<T>(page: { readonly json: Uint8Array }): Resource<T>[] {
  return JSON.parse(Buffer.from(page.json).toString('utf8'));
}
