import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Detector } from '../../src/detect/behaviour/detector.ts';
import { type DerivedData, packDerived } from '../../src/events/derived-data.ts';
import type { Finding } from '../../src/events/finding.ts';
import type { Bounds } from '../../src/events/store/expiry.ts';
import { openReader } from '../../src/store/reader.ts';
import type {
  AlertUpdate,
  CommitNotice,
  Committed,
  IngestBatch,
  ListQuery,
  Principal,
  Store,
  StoreReader,
} from '../../src/store/store.ts';
import { openStore, type StoreOptions } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';

export const hour = 3_600_000;
export const start = Date.UTC(2026, 10, 20);
export const analyst = { id: '01900000-0000-7000-8000-00000000000a', name: 'ana' };

/** A store whose `commit` waits until all events are processed, and returns the changes of alerts. */
export type OpenedStore = Omit<Store, 'commit'> & {
  commit(batch: IngestBatch): Promise<Committed & { readonly alerts: readonly AlertUpdate[] }>;
  /** Commits a batch, and does not wait until its events are processed. */
  commitOnly(batch: IngestBatch): Promise<Committed>;
};

export interface Opened {
  readonly dataDir: string;
  readonly store: OpenedStore;
  readonly reader: StoreReader;
  /** All notices since the store was opened. */
  readonly notices: readonly CommitNotice[];
  /** The clock of the store, set by tests. */
  readonly clock: { now: number };
}

/** Opens a store in a separate folder, closed and removed when the test ends. */
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
    projector?: NonNullable<StoreOptions['projector']>;
    eventsPerDetectorState?: number;
    retention?: Bounds;
    steadyMs?: () => number;
    onCommitted?: (notice: CommitNotice) => void;
  } = {},
): Opened {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  const clock = { now: start };
  const now = () => clock.now;
  const notices: CommitNotice[] = [];
  const onCommitted = (notice: CommitNotice) => {
    notices.push(notice);
    options.onCommitted?.(notice);
  };
  const terms = { dataDir, alertWindowMs: hour, clock: now, steadyMs: now, ...options, onCommitted };
  const store = withAlerts(openStore(terms), notices);
  const reader = openReader(dataDir);
  onTestFinished(async () => {
    reader.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  return { dataDir, store, reader, notices, clock };
}

/** Makes `commit` of a store also return the alerts of all notices since its call, including concurrent commits. */
export function withAlerts(store: Store, notices: readonly CommitNotice[]): OpenedStore {
  const commitOnly = store.commit.bind(store);
  return Object.assign(store, {
    commitOnly,
    async commit(batch: IngestBatch) {
      const before = notices.length;
      const committed = await commitOnly(batch);
      await store.processed().catch(() => undefined);
      return { ...committed, alerts: alertsIn(notices.slice(before)) };
    },
  });
}

/**
 * Opens a store, and waits until the stored events are processed. `commit` of the store waits until its events are
 * processed.
 */
export async function openProcessed(options: StoreOptions): Promise<OpenedStore> {
  const store = withAlerts(openStore(options), []);
  await store.processed().catch(() => undefined);
  return store;
}

export const alertsIn = (notices: readonly CommitNotice[]): readonly AlertUpdate[] =>
  notices.flatMap(({ alerts }) => alerts);

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

/** Parts of a batch, and the unpacked form of the data in `IngestBatch.derived`. */
export type BatchParts = Partial<IngestBatch> & Partial<DerivedData>;

export function batchOf(findings: readonly Finding[], parts: Omit<BatchParts, 'findings'> = {}): IngestBatch {
  const { facts = [], sightings = [], namedHosts = [], ...more } = parts;
  return {
    blocks: [],
    ...packDerived({ findings, facts, sightings, namedHosts }),
    answer: { accepted: findings.length, rejected: 0, ignored: 0, duplicates: 0, errors: [] },
    ...more,
  };
}

/** Waits until all stored events are processed, and their results are written. */
export async function settled(store: Pick<Store, 'processed'>): Promise<void> {
  await store.processed();
}

export const everything: ListQuery = {
  terms: [],
  sort: 'first_seen',
  order: 'asc',
  per_page: 1000,
  page: 1,
};

/** All items, newest first, of resources with `created_at`. */
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
