/** How much do the behaviour detectors cost per event in the projector, individually and together? */
import { serialize, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { traffic } from '../scripts/traffic/index.ts';
import type { Detector, DnsLookup, Flow } from '../src/detect/behaviour/detector.ts';
import { newDetectors } from '../src/detect/behaviour/detectors.ts';
import { Behaviour } from '../src/detect/store/behaviour/behaviour.ts';
import { FlowView } from '../src/detect/store/behaviour/flow-view.ts';
import { LookupView } from '../src/detect/store/behaviour/lookup-view.ts';
import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { type EventBlock, openBlock } from '../src/events/format/block.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import type { DnsRecord, NetworkRecord, Table } from '../src/events/records.ts';
import { parseBody } from '../src/ingest/parse-body.ts';
import { ConnectionMemory } from '../src/inventory/model/connection-memory.ts';
import { Observations } from '../src/inventory/model/observations.ts';
import type { FlowConsumer, FlowFact } from '../src/inventory/model/seen.ts';
import { compileHome } from '../src/net/home-networks.ts';
import { mulberry32 } from './conn-records.ts';
import { type BenchRow, rowOfRounds, rowsAbout } from './result.ts';

const home = ['10.0.0.0/8', '192.168.0.0/16'];
const start = Date.UTC(2026, 0, 5);
const rowsOfBlock = 4000;
const isHome = compileHome(home);
const rememberedConnections = 2 ** 20;
/** Number of alternating measurements; the lowest is reported. */
const rounds = 3;

export async function run(events = 300_000): Promise<BenchRow[]> {
  return Object.entries(traffics).flatMap(([name, make]) => costs(name, make(events)));
}

const traffics = {
  'office traffic': office,
  'a flood of many sources to one host': flood,
  'new pairs in all events, new domains in all names': worst,
} satisfies Record<string, (events: number) => readonly EventBlock[]>;

function costs(name: string, blocks: readonly EventBlock[]): BenchRow[] {
  const count = (table: Table) => blocks.reduce((sum, block) => sum + (block.table === table ? block.rows : 0), 0);
  const [network, dns] = [count('network'), count('dns')];
  const question = `Behaviour detectors over ${name}: ${network.toLocaleString('en')} connections, ${dns.toLocaleString('en')} look-ups`;
  const taken: Record<'pass' | 'shown' | 'all', number[]> = { pass: [], shown: [], all: [] };
  const each = new Map<string, number[]>();
  let ran: Ran | undefined;
  for (let round = 0; round < rounds; round++) {
    taken.pass.push(passed(blocks));
    taken.shown.push(fed(blocks, () => []).us);
    ran = fed(blocks, newDetectors);
    taken.all.push(ran.us);
    for (const [id, us] of byDetector(blocks)) each.set(id, [...(each.get(id) ?? []), us]);
  }
  const row = rowsAbout(question);
  const perEvent = (variant: string, all: readonly number[], note?: string) =>
    rowOfRounds(
      { question, variant, unit: 'µs/event', ...(note === undefined ? {} : { note }) },
      all.map((us) => us / (network + dns)),
    );
  const { detectors, found, heap } = ran!;
  const states = new Map(detectors.map((one) => [one.card.id, serialize(one.state()).length]));
  const forgotten = new Map(detectors.map((one) => [one.card.id, one.dropped.forgotten]));
  const spoken = (state: number, forgot: number) =>
    `state ${(state / 2 ** 20).toFixed(2)} MiB, ${forgot.toLocaleString('en')} forgotten`;
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  return [
    perEvent('the inventory’s pass, without', taken.pass),
    perEvent('with the rows read, no detectors', taken.shown),
    perEvent('with all detectors', taken.all, `${found.toLocaleString('en')} findings`),
    rowOfRounds(
      { question, variant: 'with all detectors ÷ without', unit: '×' },
      taken.all.map((us, round) => us / (taken.pass[round] ?? Number.NaN)),
    ),
    row('memory of all', heap / 2 ** 20, 'MiB', spoken(sum(states.values()), sum(forgotten.values()))),
    ...[...each].map(([id, all]) => perEvent(id, all, spoken(states.get(id)!, forgotten.get(id)!))),
  ];
}

/** Returns the CPU time of a pass over the blocks without detectors, in microseconds. */
function passed(blocks: readonly EventBlock[]): number {
  const memory = new ConnectionMemory(rememberedConnections);
  const observations = new Observations();
  const began = processorTime();
  for (const block of blocks)
    if (block.table === 'network') {
      observations.add(block, memory);
      observations.clear();
    }
  return processorTime() - began;
}

interface Ran {
  /** CPU time, microseconds. */
  readonly us: number;
  /** Growth of the memory in use, in bytes. */
  readonly heap: number;
  readonly found: number;
  readonly detectors: readonly Detector[];
}

/** Runs a pass over the blocks with detectors, as the store does. */
function fed(blocks: readonly EventBlock[], make: () => readonly Detector[]): Ran {
  const memory = new ConnectionMemory(rememberedConnections);
  const observations = new Observations();
  const before = memoryInUse();
  const detectors = make();
  let found = 0;
  const behaviour = new Behaviour({
    states: { get: () => undefined },
    keep() {},
    events: { visit() {} },
    rows: () => [],
    isHome,
    detectors: () => detectors,
    found: {
      add() {
        found++;
      },
    },
    eventsPerState: Number.POSITIVE_INFINITY,
  });
  behaviour.start({ network: 1, dns: 1 });
  const began = processorTime();
  for (const block of blocks) {
    if (block.table === 'dns') behaviour.dns(block, 0, block.rows);
    else observations.add(block, memory, [behaviour]);
    observations.clear();
    behaviour.conclude();
  }
  const us = processorTime() - began;
  return { us, heap: memoryInUse() - before, found, detectors };
}

/**
 * Returns the CPU time of each detector in microseconds. Detectors run one after another on the rows of each
 * block.
 */
function byDetector(blocks: readonly EventBlock[]): Map<string, number> {
  const memory = new ConnectionMemory(rememberedConnections);
  const observations = new Observations();
  const detectors = newDetectors();
  const taken = new Map(detectors.map(({ card }) => [card.id, 0]));
  const rows = new Rows();
  for (const block of blocks) {
    rows.flows.length = 0;
    rows.lookups.length = 0;
    if (block.table === 'dns') rows.dns(block);
    else observations.add(block, memory, [rows]);
    observations.clear();
    for (const detector of detectors) {
      const began = processorTime();
      if (detector.flow !== undefined) for (const flow of rows.flows) detector.flow(flow);
      if (detector.lookup !== undefined) for (const lookup of rows.lookups) detector.lookup(lookup);
      detector.evaluate(() => {});
      taken.set(detector.card.id, taken.get(detector.card.id)! + processorTime() - began);
    }
  }
  return taken;
}

/** Records the rows of a block in the form that detectors receive. */
class Rows implements FlowConsumer {
  readonly flows: Flow[] = [];
  readonly lookups: DnsLookup[] = [];
  readonly #flow = new FlowView();
  readonly #lookup = new LookupView(isHome);

  begin(block: EventBlock, from: number): void {
    this.#flow.begin(block, from);
  }

  flow(fact: Readonly<FlowFact>): void {
    this.#flow.row(fact);
    this.flows.push({ ...this.#flow, connection: this.#flow.connection });
  }

  dns(block: EventBlock): void {
    this.#lookup.begin(block);
    for (let row = 0; row < block.rows; row++) {
      this.#lookup.row(row);
      this.lookups.push({ ...this.#lookup, answers: this.#lookup.answers });
    }
  }
}

/** Returns the CPU time, which excludes other processes on the machine. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function memoryInUse(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Returns the generator's office traffic, without attacks. */
function office(events: number): EventBlock[] {
  const blocks = new Numbered();
  let lines: string[] = [];
  let taken = 0;
  const parse = (receivedAt: number) => {
    const body = new Uint8Array(Buffer.from(lines.join('\n'))).buffer;
    const input = {
      pieces: [body],
      length: body.byteLength,
      encoding: 'identity',
      mediaType: 'ndjson',
      receivedAt,
      home,
      digest: false,
    } as const;
    const parsed = parseBody(input, { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice });
    for (const buffer of parsed.blocks) blocks.add(buffer);
    lines = [];
  };
  for (const { time, line, truth } of traffic({ seed: 5, start, linesPerSecond: 4, clients: 200 })) {
    if (truth !== 'benign') continue;
    lines.push(line);
    if (lines.length === rowsOfBlock) parse(Math.ceil(time));
    if (++taken === events) break;
  }
  return blocks.all;
}

/** Returns Internet background noise, a thousand attempts per second: most fail, and a few are answered. */
function flood(events: number): EventBlock[] {
  const random = mulberry32(7);
  const below = (n: number) => Math.floor(random() * n);
  return generated(events, (at) => {
    const answered = random() < 0.1;
    return network({
      timestamp: start + at,
      src_ip: `${20 + below(160)}.${below(256)}.${below(256)}.${below(256)}`,
      dst_ip: '10.0.0.80',
      dst_port: answered ? [22, 80, 443][below(3)]! : Math.floor(65_536 ** random()),
      direction: 'inbound',
      ...(answered ? {} : vain),
    });
  });
}

/** Returns events in which every pair and every name occurs once, with patterns for all detectors. */
function worst(events: number): EventBlock[] {
  const random = mulberry32(11);
  const below = (n: number) => Math.floor(random() * n);
  const inside = () => `10.${below(200)}.${below(256)}.${below(256)}`;
  const outside = () => `${20 + below(160)}.${below(256)}.${below(256)}.${below(256)}`;
  const ports = [22, 443, 445, 3389, 5985];
  const connections = generated(Math.floor(events / 2), (at) => {
    const direction = (['outbound', 'outbound', 'internal', 'inbound'] as const)[at % 4]!;
    return network({
      timestamp: start + 100 * at,
      src_ip: direction === 'inbound' ? outside() : inside(),
      dst_ip: direction === 'outbound' ? outside() : inside(),
      dst_port: at % 3 === 0 ? 1024 + below(60_000) : ports[below(ports.length)]!,
      direction,
      src_bytes: 20_000 + below(1_000_000),
      duration_ms: 7_200_000,
      ...(at % 5 === 0 ? vain : {}),
    });
  });
  const letters = (length: number) => Array.from({ length }, () => (10 + below(26)).toString(36)).join('');
  const lookups = new Numbered();
  for (let at = 0; at < events / 2; ) {
    const block = new BlockBuilder('dns', start + 100 * (at + rowsOfBlock));
    for (let row = 0; row < rowsOfBlock && at < events / 2; row++, at++)
      block.add(lookup(start + 100 * at, inside(), `${letters(30)}.${letters(12)}.com`));
    lookups.add(block.finish());
  }
  return connections.flatMap((block, i) => [block, ...lookups.all.slice(i, i + 1)]);
}

function generated(events: number, make: (at: number) => NetworkRecord): EventBlock[] {
  const blocks = new Numbered();
  for (let at = 0; at < events; ) {
    const records = Array.from({ length: Math.min(rowsOfBlock, events - at) }, () => make(at++));
    const block = new BlockBuilder('network', records.at(-1)!.timestamp);
    for (const record of records) block.add(record);
    blocks.add(block.finish());
  }
  return blocks.all;
}

/** Assigns blocks the sequences that a store would give them. */
class Numbered {
  readonly all: EventBlock[] = [];
  readonly #next: Record<Table, number> = { network: 1, dns: 1 };

  add(buffer: ArrayBuffer): void {
    const { table, rows } = openBlock(buffer, 1);
    this.all.push(openBlock(buffer, this.#next[table]));
    this.#next[table] += rows;
  }
}

const vain = {
  state: 'attempt',
  conn_state: 'S0',
  src_bytes: 60,
  dst_bytes: 0,
  src_packets: 1,
  dst_packets: 0,
} as const;

let connections = 0;

function network(what: Partial<NetworkRecord>): NetworkRecord {
  return {
    id: undefined,
    timestamp: start,
    duration_ms: 1000,
    src_ip: '10.0.0.1',
    src_port: 50_000,
    src_mac: undefined,
    dst_ip: '10.0.0.2',
    dst_port: 443,
    dst_mac: undefined,
    transport: 'tcp',
    app_protocol: undefined,
    src_bytes: 2000,
    dst_bytes: 5000,
    src_payload_bytes: undefined,
    dst_payload_bytes: undefined,
    src_packets: 10,
    dst_packets: 10,
    missed_bytes: 0,
    state: 'closed',
    conn_state: 'SF',
    history: undefined,
    direction: 'outbound',
    community_id: undefined,
    connection_id: `C${(connections++).toString(36)}`,
    vlan: undefined,
    sensor: 'zeek-1',
    source: 'zeek',
    severity: 'informational',
    ...what,
  };
}

function lookup(timestamp: number, src_ip: string, query: string): DnsRecord {
  return {
    id: undefined,
    timestamp,
    src_ip,
    src_port: 50_000,
    dst_ip: '10.0.0.53',
    dst_port: 53,
    transport: 'udp',
    kind: 'transaction',
    transaction_id: undefined,
    query,
    qtype: 'TXT',
    qclass: undefined,
    rcode: 3,
    rcode_name: undefined,
    answers: undefined,
    authoritative: undefined,
    truncated: undefined,
    recursion_desired: undefined,
    recursion_available: undefined,
    rejected: undefined,
    rtt_ms: undefined,
    community_id: undefined,
    connection_id: undefined,
    sensor: 'zeek-1',
    source: 'zeek',
    severity: 'informational',
  };
}
