import type { FindingSink, FoundInEvents } from '../alerts/store/pending-findings.ts';
import type { Detector } from '../detect/behaviour/detector.ts';
import { Behaviour } from '../detect/store/behaviour/behaviour.ts';
import { Intel } from '../detect/store/intel/intel.ts';
import { IntelFold } from '../detect/store/intel/intel-fold.ts';
import type { EventBlock } from '../events/format/block.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import type { EventStore } from '../events/store/event-store.ts';
import { ConnectionMemory } from '../inventory/model/connection-memory.ts';
import { namesInDns } from '../inventory/model/dns-names.ts';
import { Observations } from '../inventory/model/observations.ts';
import type { Pass } from '../inventory/model/pass.ts';
import type { FlowConsumer } from '../inventory/model/seen.ts';
import { guarded, projectedRows, type RowsOfBlock, skippedIn } from '../inventory/store/skipped-events.ts';
import { limits } from '../limits.ts';
import type { IsHome } from '../net/home-networks.ts';
import type { Clocks, Delta, ProjectorStart, Sequences } from '../projections/delta.ts';
import { EventFold } from '../rollups/model/event-fold.ts';
import { KeyedHash } from '../rollups/model/keyed-hash.ts';
import { encodeCells } from '../rollups/store/deltas.ts';
import { EdgeFold } from '../topology/model/edge-fold.ts';
import { encodeSegments } from '../topology/model/segment.ts';
import type { Tables } from './tables.ts';

export interface ProjectorOptions {
  readonly tables: Pick<
    Tables,
    'behaviourState' | 'intelContents' | 'intelHits' | 'intelLists' | 'rollupState' | 'skippedEvents'
  >;
  readonly events: EventStore;
  readonly isHome: IsHome;
  readonly detectors: () => readonly Detector[];
  /** Number of events after which a detector's state is written. */
  readonly eventsPerState: number;
  /** Number of remembered connections. Default: limits.rememberedConnections. */
  readonly rememberedConnections?: number | undefined;
}

/** Limits of a delta; the time is in milliseconds. The pass that reaches a limit is completed. */
const full = { events: 65_536, edges: 16_384, rows: 2048, ms: 250 } as const;
/** After a pass with more hosts, services and names than this, the next pass has at most this many events. */
const smallPass = 1024;

/**
 * Derives deltas from stored events, in the order of their sequences: evidence of hosts and services, edges of the
 * graph, sums of the dashboard, and findings of behaviour detectors and intelligence. Reads committed events from the
 * database, and writes nothing: the store writes each delta together with the new position.
 */
export class Projector {
  readonly #options: ProjectorOptions;
  readonly #events: EventStore;
  readonly #memory: ConnectionMemory;
  readonly #behaviour: Behaviour;
  readonly #intel: Intel;
  readonly #consumers: readonly FlowConsumer[];
  readonly #dnsConsumers: readonly { dns(block: EventBlock, from: number, to: number): void }[];
  readonly #edges: EdgeFold;
  readonly #sums: EventFold;
  #observations = new Observations();
  #clocks: Clocks = { now: 0, believed: 0 };
  #start: ProjectorStart | undefined;
  #position: Record<Table, number> = { network: 1, dns: 1 };
  /** Position at which the next delta begins. */
  #deltaFrom: Sequences = this.#position;
  #passes: Pass[] = [];
  /** Maximum number of events in the next pass. */
  #passRows: number = limits.maxBlockRows;
  #findings: FoundInEvents[] = [];
  #states: (readonly [string, Uint8Array])[] = [];
  /** Number of events in the next delta, and number of its hosts, services and other rows. */
  #taken = { events: 0, rows: 0 };

  constructor(options: ProjectorOptions) {
    const { tables, events, isHome, detectors, eventsPerState } = options;
    this.#options = options;
    this.#events = events;
    this.#memory = new ConnectionMemory(options.rememberedConnections ?? limits.rememberedConnections);
    const found: FindingSink = { add: (finding, ids) => this.#findings.push({ finding, events: ids }) };
    this.#behaviour = new Behaviour({
      states: tables.behaviourState,
      keep: (id, state) => this.#states.push([id, state]),
      events,
      rows: (table, from, to) => this.#rows(table, from, to),
      isHome,
      detectors,
      found,
      eventsPerState,
    });
    this.#intel = new Intel(tables, () => this.#clocks.now);
    const intelFold = new IntelFold({ intel: this.#intel, found });
    this.#edges = new EdgeFold(() => this.#clocks.now + limits.topologyHorizonMs);
    this.#sums = new EventFold(new KeyedHash(tables.rollupState.get('rollups')!.key), () => this.#clocks.believed);
    this.#consumers = [this.#edges, this.#sums, this.#behaviour, intelFold];
    this.#dnsConsumers = [this.#sums, this.#behaviour, intelFold];
  }

  /** Clears memory, and restores the state that earlier events produced, such as the states of detectors. */
  start(start: ProjectorStart): void {
    this.#start = start;
    this.#position = { ...start.from };
    this.#deltaFrom = start.from;
    this.#observations = new Observations();
    this.#edges.clear();
    this.#sums.clear();
    this.#clear();
    this.#events.refresh();
    this.#intel.forget();
    this.#memory.clear();
    const oldest = Math.max(1, start.from.network - this.#memory.slots);
    guarded(() => {
      for (const { block, first, end } of this.#rows('network', oldest, start.from.network))
        this.#observations.recall(block, this.#memory, first, end);
      this.#behaviour.start(start.from);
    });
  }

  set clocks(clocks: Clocks) {
    this.#clocks = clocks;
  }

  get position(): Sequences {
    return this.#position;
  }

  /** Reads the intelligence lists again, if they have changed. */
  reloadIntel(): void {
    this.#events.refresh();
    this.#intel.forget();
  }

  /**
   * Processes events up to the first of the ends, then up to the next, until a delta is full. Ends that are reached
   * are removed. A pass never crosses an end.
   *
   * @throws ProjectionError, or an error about damaged data: `start` must be called again
   */
  step(ends: Sequences[]): Delta {
    const until = performance.now() + full.ms;
    this.#events.refresh();
    for (let [to] = ends; to !== undefined; [to] = ends) {
      for (const table of eventTables) if (!this.#processTo(table, to[table], until)) return this.#delta();
      ends.shift();
    }
    return this.#delta();
  }

  /** Returns a delta with the states of all detectors, so that the next start has nothing to process again. */
  finish(): Delta {
    this.#behaviour.keepAll();
    return this.#delta();
  }

  /**
   * Reports ongoing activity again, if due, when no event waits.
   *
   * @returns the delay until the next call, in milliseconds, if activity waits for a report
   */
  settle(): { readonly delta: Delta | undefined; readonly againMs: number | undefined } {
    const againMs = guarded(() => this.#behaviour.settle());
    return { delta: this.#findings.length > 0 ? this.#delta() : undefined, againMs };
  }

  /** Processes events of a table up to a sequence. Returns false if the delta is full. */
  #processTo(table: Table, to: number, until: number): boolean {
    for (const rows of this.#rows(table, this.#position[table], to)) {
      guarded(() => this.#pass(rows), { rows: { table, from: firstOf(rows), to: endOf(rows) } });
      this.#position[table] = endOf(rows);
      const rowCount = this.#taken.rows + this.#findings.length;
      if (this.#taken.events >= full.events || rowCount >= full.rows || this.#edges.rows >= full.edges) return false;
      if (performance.now() >= until) return false;
    }
    // The last events may be left out, or may no longer be stored.
    this.#position[table] = Math.max(this.#position[table], to);
    return true;
  }

  #pass({ block, first, end }: RowsOfBlock): void {
    const range = { table: block.table, from: block.firstSeq + first, to: block.firstSeq + end };
    const pass = block.table === 'network' ? this.#flows(block, first, end) : this.#lookups(block, first, end);
    this.#passes.push({ ...range, ...pass });
    this.#taken.events += end - first;
    const rows = pass.hosts.length + pass.services.length + pass.names.length;
    this.#taken.rows += rows;
    this.#passRows = rows > smallPass ? smallPass : limits.maxBlockRows;
  }

  #flows(block: EventBlock, first: number, end: number): Omit<Pass, 'table' | 'from' | 'to'> {
    const observations = this.#observations;
    observations.add(block, this.#memory, this.#consumers, first, end);
    const gateways = [...observations.gateways()];
    const pass = { hosts: observations.hosts(), services: [...observations.services()], gateways, names: [] };
    observations.clear();
    return pass;
  }

  #lookups(block: EventBlock, first: number, end: number): Omit<Pass, 'table' | 'from' | 'to'> {
    for (const consumer of this.#dnsConsumers) consumer.dns(block, first, end);
    const names = [...namesInDns(block, this.#options.isHome, first, end)];
    return { hosts: [], services: [], gateways: [], names };
  }

  #delta(): Delta {
    guarded(() => this.#behaviour.conclude());
    this.#behaviour.write();
    const edges = encodeSegments(this.#edges.edges);
    this.#edges.clear();
    const cells = [...this.#sums.cells];
    const overflows = cells.reduce((sum, { rollup }) => sum + rollup.overflows, 0);
    const { received } = this.#sums;
    const sums = this.#sums.isEmpty ? {} : { sums: { cells: encodeCells(cells), received, overflows } };
    this.#sums.clear();
    const { forgottenForwarders, united } = this.#observations;
    const delta: Delta = {
      start: this.#start!.start,
      from: this.#deltaFrom,
      to: { ...this.#position },
      passes: this.#passes,
      edges,
      ...sums,
      findings: this.#findings,
      states: this.#states,
      hits: this.#intel.takeHits(),
      limits: {
        reached: {
          rememberedConnections: this.#memory.forgotten,
          maxSpansPerAddress: united,
          rememberedForwarders: forgottenForwarders,
          ...this.#behaviour.limitsReached(),
        },
        detectors: this.#behaviour.detectorLimits(),
      },
    };
    this.#deltaFrom = delta.to;
    this.#clear();
    return delta;
  }

  #clear(): void {
    this.#passes = [];
    this.#findings = [];
    this.#states = [];
    this.#taken = { events: 0, rows: 0 };
  }

  /** Yields the events of a range, except those that are left out. Suspects are yielded one by one. */
  *#rows(table: Table, from: number, to: number): Generator<RowsOfBlock> {
    const { skipped, suspects } = this.#start!;
    const recorded = skippedIn(this.#options.tables.skippedEvents, table);
    const failing = skipped.flatMap(([its, seq]) => (its === table ? [seq] : []));
    const leftOut = [...new Set([...recorded, ...failing])].sort((a, b) => a - b);
    const ranges = suspects.filter((range) => range.table === table);
    for (const { block, first, end } of projectedRows(this.#events, leftOut, table, from, to))
      for (let row = first; row < end; ) {
        const next = Math.min(end, row + this.#passRows, row + runLength(block.firstSeq + row, ranges));
        yield { block, first: row, end: next };
        row = next;
        // An old snapshot would keep the pages that the store frees.
        this.#events.refresh();
      }
  }
}

const firstOf = ({ block, first }: RowsOfBlock): number => block.firstSeq + first;
const endOf = ({ block, end }: RowsOfBlock): number => block.firstSeq + end;

/** Returns the number of events, starting with `seq`, that may be processed together. */
function runLength(seq: number, suspects: ProjectorStart['suspects']): number {
  if (suspects.some(({ from, to }) => seq >= from && seq < to)) return 1;
  return Math.min(...suspects.map(({ from }) => (from > seq ? from - seq : Number.POSITIVE_INFINITY)));
}
