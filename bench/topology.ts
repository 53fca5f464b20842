/** How long does the topology graph take, with millions of events and with a million edges? */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/database/lmdb.ts';
import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { openBlock } from '../src/events/format/block.ts';
import { AddressList } from '../src/events/format/column-readers.ts';
import { parseBody } from '../src/ingest/parse-body.ts';
import { ConnectionMemory } from '../src/inventory/model/connection-memory.ts';
import { Observations } from '../src/inventory/model/observations.ts';
import type { FlowFact } from '../src/inventory/model/seen.ts';
import { openReader } from '../src/store/reader.ts';
import type { StoreReader, TopologyQuery } from '../src/store/store.ts';
import { databaseFile, openTables } from '../src/store/tables.ts';
import { EdgeFold } from '../src/topology/model/edge-fold.ts';
import { encodeSegments } from '../src/topology/model/segment.ts';
import { Topology } from '../src/topology/store/topology.ts';
import { mulberry32 } from './conn-records.ts';
import type { BenchRow } from './result.ts';

const shared = process.env.CANDOR_SHARED ?? new URL('../../shared', import.meta.url).pathname;
const dataSets = [
  { name: 'zeek-lan', file: 'zeek-lan/m57.conn.ndjson.gz', home: ['192.168.0.0/16'] },
  {
    name: 'zeek-internet-host',
    file: 'zeek-internet-host/missing_host.conn.ndjson.gz',
    home: ['64.225.56.201/32'],
  },
];
const hour = 3_600_000;

export async function run(events = 5_000_000, edges = 1_000_000): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const set of dataSets)
    if (existsSync(join(shared, 'data', set.file))) rows.push(...(await realFlows(set, events)));
  rows.push(...(await manyEdges(edges)));
  return rows;
}

/** Measures the topology of a file's flows, repeated at later times. */
async function realFlows({ name, file, home }: (typeof dataSets)[number], events: number): Promise<BenchRow[]> {
  const bytes = readFileSync(join(shared, 'data', file));
  const body = new Uint8Array(bytes).buffer;
  const input = {
    pieces: [body],
    length: body.byteLength,
    encoding: 'gzip',
    mediaType: 'ndjson',
    receivedAt: 0,
    home,
    digest: false,
  } as const;
  const { blocks } = parseBody(input, { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice });
  const question = `Topology of ${events.toLocaleString('en')} events of ${name}, the file repeated at later times`;
  return inFolder(async (folder, topology, transaction) => {
    let added = 0;
    let shift = 0;
    let first = Number.POSITIVE_INFINITY;
    const fold = new EdgeFold(Date.now);
    const shifted = {
      flow(fact: FlowFact) {
        first = Math.min(first, fact.first);
        fact.first += shift;
        fact.last += shift;
        fold.flow(fact);
      },
    };
    const began = performance.now();
    while (added < events) {
      const memory = new ConnectionMemory(1024);
      for (const buffer of blocks) {
        const block = openBlock(buffer, 1);
        const observations = new Observations();
        observations.add(block, memory, [shifted as never]);
        store(topology, fold, transaction);
        added += block.rows;
      }
      shift += 73 * hour;
      while (topology.mergeSome());
    }
    const perRow = ((performance.now() - began) * 1e6) / added;
    return [
      { question, variant: 'reading blocks, adding up, writing, merging', value: perRow, unit: 'ns/event' },
      ...(await questions(question, folder, {
        '200 nodes': {},
        '200 nodes by subnet': { group_by: 'subnet' },
        '200 nodes of a day': { from: first + shift - 73 * hour, to: first + shift - 49 * hour },
      })),
    ];
  });
}

/**
 * Measures adding, writing and merging edges, and the queries, for random flows from home hosts to external networks.
 */
async function manyEdges(edges: number): Promise<BenchRow[]> {
  const question = `Topology of ${edges.toLocaleString('en')} edges`;
  const random = mulberry32(3);
  const hosts = new AddressList(
    new Uint8Array(Uint32Array.from({ length: 4000 }, (_, i) => 0x0a000000 + i).buffer),
    4000,
  );
  const networks = new AddressList(
    new Uint8Array(Uint32Array.from({ length: 8000 }, (_, i) => 0x40000000 + i * 256).buffer),
    8000,
  );
  const fact = {
    srcs: hosts,
    dsts: networks,
    src: 0,
    dst: 0,
    srcHome: true,
    dstHome: false,
    answered: true,
    port: 443,
    transport: 'tcp',
    app: 'ssl',
    connections: 1,
    isFirst: true,
    isFirstAnswered: true,
    bytes: 1000,
    first: Date.UTC(2026, 0, 1),
    last: 0,
  };
  const next = () => {
    fact.src = Math.floor(random() * 4000);
    fact.dst = Math.floor(8000 * random() ** 2);
    fact.port = Math.floor(1000 * random() ** 4);
    fact.bytes = Math.floor(1e6 ** random());
  };
  return inFolder(async (folder, topology, transaction) => {
    const fold = new EdgeFold(() => Number.POSITIVE_INFINITY);
    for (let i = 0; i < 300_000; i++) {
      if (i === 100_000) fold.clear();
      next();
      fold.flow(fact);
    }
    const began = performance.now();
    for (let i = 0; i < 1_000_000; i++) {
      next();
      fold.flow(fact);
    }
    const perRow = performance.now() - began;
    fold.clear();
    const memory = process.memoryUsage.rss();
    let longest = 0;
    const timed = (work: () => unknown) => {
      const before = performance.now();
      const result = work();
      longest = Math.max(longest, performance.now() - before);
      return result;
    };
    const writing = performance.now();
    for (let batch = 0; batch < 1.2 * (edges / 10_000); batch++) {
      for (let i = 0; i < 10_000; i++) {
        next();
        fold.flow(fact);
      }
      timed(() => store(topology, fold, transaction));
      for (let step = 0; step < 4; step++) timed(() => topology.mergeSome());
    }
    while (timed(() => topology.mergeSome()));
    const written = performance.now() - writing;
    const held = process.memoryUsage.rss() - memory;
    const file = statSync(join(folder, databaseFile)).size;
    return [
      { question, variant: 'adding a row to a million', value: perRow, unit: 'ns' },
      { question, variant: 'writing and merging all', value: written, unit: 'ms' },
      { question, variant: 'longest write or step of a merge', value: longest, unit: 'ms' },
      { question, variant: 'memory of the writer', value: held / 2 ** 20, unit: 'MB', note: 'RSS' },
      { question, variant: 'file', value: file / 2 ** 20, unit: 'MB' },
      ...(await questions(question, folder, {
        '200 nodes': {},
        '2,000 nodes': { limit: 2000 },
        '200 nodes by subnet': { group_by: 'subnet' },
        '200 nodes of an hour': { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 1) + hour },
      })),
    ];
  });
}

async function questions(
  question: string,
  folder: string,
  asked: Readonly<Record<string, Partial<TopologyQuery>>>,
): Promise<BenchRow[]> {
  const reader: StoreReader = openReader(folder);
  const before = process.memoryUsage.rss();
  const rows: BenchRow[] = [];
  let most = before;
  for (const [variant, query] of Object.entries(asked)) {
    const times: number[] = [];
    let nodes = 0;
    let edges = 0;
    for (let i = 0; i < 8; i++) {
      const began = performance.now();
      const graph = reader.topology({ group_by: 'host', depth: 1, limit: 200, ...query });
      JSON.stringify(graph);
      times.push(performance.now() - began);
      nodes = graph.nodes.length;
      edges = graph.edges.length;
      most = Math.max(most, process.memoryUsage.rss());
    }
    const note = `${nodes} nodes, ${edges} edges`;
    rows.push({ question, variant: `${variant}, first`, value: times[0]!, unit: 'ms', note });
    rows.push({ question, variant: `${variant}, p50`, value: times.sort((a, b) => a - b)[4]!, unit: 'ms' });
  }
  rows.push({
    question,
    variant: 'memory of the reader',
    value: (most - before) / 2 ** 20,
    unit: 'MB',
    note: 'RSS',
  });
  reader.close();
  return rows;
}

/** Writes the edges that were added up, as the store does. */
function store(topology: Topology, fold: EdgeFold, transaction: (write: () => void) => void): void {
  topology.take({ edges: encodeSegments(fold.edges) });
  fold.clear();
  transaction(() => topology.write());
}

async function inFolder(
  measure: (folder: string, topology: Topology, transaction: (write: () => void) => void) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-topology-'));
  const root = openDatabase(join(folder, databaseFile));
  const transaction = (write: () => void) => root.transactionSync(write);
  try {
    return await measure(folder, new Topology({ tables: openTables(root), seed: 9, transaction }), transaction);
  } finally {
    await root.close();
    rmSync(folder, { recursive: true });
  }
}
