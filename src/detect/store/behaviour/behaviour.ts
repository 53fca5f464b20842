import { deserialize, serialize } from 'node:v8';
import type { FindingSink } from '../../../alerts/store/pending-findings.ts';
import { isDamage } from '../../../database/rows.ts';
import type { EventBlock } from '../../../events/format/block.ts';
import type { Table } from '../../../events/records.ts';
import { rowId } from '../../../events/resource.ts';
import type { EventStore } from '../../../events/store/event-store.ts';
import { ConnectionMemory } from '../../../inventory/model/connection-memory.ts';
import { Observations } from '../../../inventory/model/observations.ts';
import type { FlowConsumer, FlowFact } from '../../../inventory/model/seen.ts';
import type { RowsOfBlock } from '../../../inventory/store/skipped-events.ts';
import { type LimitName, limits } from '../../../limits.ts';
import type { IsHome } from '../../../net/home-networks.ts';
import type { Sequences } from '../../../projections/delta.ts';
import type { DetectorLimit } from '../../../store/store.ts';
import type { Detection, Detector, DetectorCard, Due, Emit } from '../../behaviour/detector.ts';
import { behaviourFinding } from '../../behaviour/support/finding.ts';
import type { DetectTables } from '../tables.ts';
import { FlowViews } from './flow-view.ts';
import { LookupView } from './lookup-view.ts';

/** State of a detector, and the first event of each table that the state does not include. */
interface KeptState {
  readonly version: number;
  readonly next: Readonly<Record<Table, number>>;
  readonly state: unknown;
  /**
   * Receipt time of the newest included event, epoch milliseconds. Absent in states that earlier versions of the
   * program wrote.
   */
  readonly received?: number;
}

interface Running {
  readonly detector: Detector;
  /** The first event of each table that the detector has not received. */
  readonly next: Record<Table, number>;
  /** Number of events received since the state was written. */
  unkept: number;
  keptAt: number;
  /** Duration of the last write of the state. */
  keepingMs: number;
}

export interface BehaviourOptions {
  /** The written states, by id of the detector. */
  readonly states: Pick<DetectTables['behaviourState'], 'get'>;
  /** Writes the serialised state of a detector. */
  readonly keep: (detector: string, state: Uint8Array) => void;
  readonly events: Pick<EventStore, 'visit'>;
  /** Yields the rows in a range, except skipped events. */
  readonly rows: (table: Table, from: number, to: number) => Iterable<RowsOfBlock>;
  readonly isHome: IsHome;
  readonly detectors: () => readonly Detector[];
  readonly found: FindingSink;
  /** Number of events after which a detector's state is written. */
  readonly eventsPerState: number;
}

/**
 * Runs the behaviour detectors over stored events. The store commits their findings with the position up to which
 * events are processed:
 *
 * ```
 *   events     … 41 42 43 44 45 46 47 48
 *   state             ^                     of each detector, written from time to time
 *   position                ^               committed with the alerts of all earlier events
 *   in memory  = state + 43 44 + 45 46
 * ```
 *
 * After a restart, a detector receives the events between its state and the position again. The findings for these
 * events were already raised, and are not raised again. Pending refreshes of alerts are only in memory, so a restart
 * loses them. Therefore, the latest of these findings of each alert refreshes the alert, even if no new event follows
 * (see `settle`). Earlier findings of the alert do not refresh it, because they could join the alert of a later
 * episode.
 *
 * A detector that throws on an event (a bug) is disabled until the next start; the other detectors continue. A detector
 * whose state cannot be restored, such as after a downgrade of V8, starts without the state.
 */
export class Behaviour implements FlowConsumer {
  readonly #options: BehaviourOptions;
  readonly #flows = new FlowViews();
  readonly #lookup: LookupView;
  #running: Running[] = [];
  /** The latest finding of each key while events are replayed. All of these findings were already raised. */
  #recalled: Map<string, () => void> | undefined;
  #keepsAll = false;
  /** Time of the next refresh of alerts about ongoing activity, by performance.now(). */
  #refreshAt = 0;
  /** The first unprocessed sequence of each table, as of the last evaluation. */
  readonly #next: Record<Table, number> = { network: 0, dns: 0 };
  /** Receipt time of the newest processed event. */
  #received = 0;
  /** Receipt time of the first event after the clock was set back. */
  #setBackAt: number | undefined;

  constructor(options: BehaviourOptions) {
    this.#options = options;
    this.#lookup = new LookupView(options.isHome);
  }

  begin(block: EventBlock, from: number): void {
    this.#followClock(block, from);
    this.#flows.begin(block, from);
  }

  flow(fact: Readonly<FlowFact>): void {
    const seq = this.#flows.add(fact);
    if (seq % evaluatedEvery === 0) {
      this.#deliverFlows();
      this.#next.network = seq + 1;
      this.conclude();
    } else if (this.#flows.isFull) this.#deliverFlows();
  }

  end(): void {
    this.#deliverFlows();
    this.#delivered('network', this.#flows.next);
  }

  dns(block: EventBlock, from: number, to: number): void {
    this.#followClock(block, from);
    this.#lookup.begin(block);
    for (let row = from; row < to; row++) {
      this.#lookup.row(row);
      this.#deliverLookup();
      if (this.#lookup.seq % evaluatedEvery !== 0) continue;
      this.#next.dns = this.#lookup.seq + 1;
      this.conclude();
    }
    this.#delivered('dns', block.firstSeq + to);
  }

  /** Writes one of the states that are due; after `keepAll`, all states with new events. */
  write(): void {
    const now = performance.now();
    const { eventsPerState } = this.#options;
    for (const running of this.#running) {
      const { unkept, keptAt, keepingMs } = running;
      const isDue = unkept >= eventsPerState && now - keptAt >= keepingMs * keepingShare;
      if (!(isDue || unkept >= limits.maxUnkeptDetectorEvents || (this.#keepsAll && unkept > 0))) continue;
      this.#keep(running);
      if (!this.#keepsAll) break;
    }
    this.#keepsAll = false;
  }

  /** Schedules all states for the next write, so that the next start has nothing to replay. Makes a refresh due. */
  keepAll(): void {
    this.#keepsAll = true;
    this.#refreshAt = 0;
  }

  /**
   * Refreshes alerts of ongoing activity, if due, when no event is pending. Returns the delay until the next refresh,
   * in milliseconds; undefined if no alert waits for a refresh.
   */
  settle(): number | undefined {
    if (!this.#hasStale()) return undefined;
    this.conclude();
    return this.#hasStale() ? Math.max(1, this.#refreshAt - performance.now()) : undefined;
  }

  /** Returns how often events or keys were dropped since the detectors were created. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached: Partial<Record<LimitName, number>> = {};
    for (const { limit, times } of this.detectorLimits()) reached[limit] = (reached[limit] ?? 0) + times;
    return reached;
  }

  /** Like `limitsReached`, per detector. */
  detectorLimits(): DetectorLimit[] {
    return this.#running.flatMap(({ detector: { card, dropped } }) => {
      const reached = { maxBehaviourDelay: dropped.late, maxDetectorKeys: dropped.forgotten };
      const limits = Object.entries(reached).filter(([, times]) => times > 0);
      return limits.map(([limit, times]) => ({ limit: limit as LimitName, detector: card.id, times }));
    });
  }

  /**
   * Restarts the detectors when the clock has been behind processed events for an hour: windows that end in
   * the future would count every new event as late.
   */
  #followClock(block: EventBlock, row: number): void {
    const receipt = block.numbers('received_at').at(row);
    if (receipt >= this.#received - limits.maxClockJumpMs) {
      this.#received = Math.max(this.#received, receipt);
      this.#setBackAt = undefined;
      return;
    }
    this.#setBackAt = Math.min(this.#setBackAt ?? receipt, receipt);
    if (receipt - this.#setBackAt < limits.maxClockJumpMs) return;
    const fresh = new Map(this.#options.detectors().map((detector) => [detector.card.id, detector]));
    this.#running = this.#running.map((running) => ({
      ...running,
      detector: fresh.get(running.detector.card.id)!,
    }));
    this.#received = receipt;
    this.#setBackAt = undefined;
  }

  /**
   * Passes all waiting rows to each detector in turn, so that the detector's code and tables stay in the
   * processor's cache.
   */
  #deliverFlows(): void {
    const { views, first, size } = this.#flows;
    // `#setAside` replaces the list, so this loop continues with the previous list.
    for (const running of this.#running) {
      const { detector, next } = running;
      if (detector.flow === undefined) continue;
      try {
        for (let i = Math.max(0, next.network - first); i < size; i++) detector.flow(views[i]!);
      } catch (error) {
        this.#setAside(running, error);
      }
    }
    this.#flows.clear();
  }

  #deliverLookup(): void {
    const lookup = this.#lookup;
    for (const running of this.#running) {
      if (running.detector.lookup === undefined || lookup.seq < running.next.dns) continue;
      try {
        running.detector.lookup(lookup);
      } catch (error) {
        this.#setAside(running, error);
      }
    }
  }

  /** Records that all detectors have received the events before `next`. */
  #delivered(table: Table, next: number): void {
    for (const running of this.#running) {
      if (next <= running.next[table]) continue;
      running.unkept += next - running.next[table];
      running.next[table] = next;
    }
    this.#next[table] = next;
  }

  /** Evaluates the detectors. Must be called before each delta ends. */
  conclude(): void {
    const began = performance.now();
    const isRecalling = this.#recalled !== undefined;
    const refreshes = !isRecalling && began >= this.#refreshAt;
    // See `#deliverFlows`. The loop continues with the previous list.
    for (const running of this.#running) {
      const { detector } = running;
      const emit: Emit = (detection, due) => {
        if (!isRecalling) this.#add(detector.card, detection, due);
        else this.#noteRecalled(detector.card, detection, due);
      };
      try {
        detector.evaluate(emit, refreshes);
      } catch (error) {
        if (isDamage(error)) throw error;
        this.#setAside(running, error);
      }
    }
    if (!refreshes) return;
    const now = performance.now();
    this.#refreshAt = now + Math.max(limits.alertRefreshMs, refreshingShare * (now - began));
  }

  #hasStale(): boolean {
    return this.#running.some(({ detector }) => detector.dropped.stale > 0);
  }

  #add(card: DetectorCard, detection: Detection, due: Due | undefined): void {
    const { ids, sensors } = this.#shownBy(detection);
    const finding = behaviourFinding(card, detection, due);
    this.#options.found.add(sensors.length === 0 ? finding : { ...finding, sensors }, ids);
  }

  #noteRecalled(card: DetectorCard, detection: Detection, due: Due | undefined): void {
    const { ends, about, keyed_by = ['src_ip', 'dst_ip'] } = detection;
    const key = JSON.stringify([card.id, about, ...keyed_by.map((end) => ends[end])]);
    const continues = due === 'ongoing' ? due : 'grown';
    this.#recalled!.set(key, () => this.#add(card, detection, continues));
  }

  #setAside(running: Running, error: unknown): void {
    this.#running = this.#running.filter((one) => one !== running);
    process.emitWarning(`detector ${running.detector.card.id} is disabled until the next start: ${reasonOf(error)}`);
  }

  /** Restores the detectors to their state after the events before the position. */
  start(position: Sequences): void {
    this.#flows.clear();
    this.#received = 0;
    this.#setBackAt = undefined;
    this.#running = this.#options.detectors().map((detector) => this.#restored(detector, position));
    const recalled = new Map<string, () => void>();
    this.#recalled = recalled;
    this.#redeliver(position);
    this.conclude();
    this.#recalled = undefined;
    Object.assign(this.#next, position);
    for (const add of recalled.values()) add();
  }

  #restored(detector: Detector, ends: Sequences): Running {
    const start = (table: Table) => Math.max(1, ends[table] - limits.maxUnkeptDetectorEvents);
    const fresh = { network: start('network'), dns: start('dns') };
    const running = { detector, next: fresh, unkept: 0, keptAt: performance.now(), keepingMs: 0 };
    const bytes = this.#options.states.get(detector.card.id);
    if (bytes === undefined) return running;
    try {
      const kept = deserialize(bytes) as KeptState;
      if (kept.version !== detector.card.version) return running;
      detector.restore(kept.state);
      this.#received = Math.max(this.#received, kept.received ?? 0);
      return { ...running, next: { ...kept.next } };
    } catch (error) {
      const { id } = detector.card;
      process.emitWarning(`detector ${id} starts without its stored state: ${reasonOf(error)}`);
      // The detector may contain a part of the state, so a new detector replaces it.
      return { ...running, detector: this.#options.detectors().find(({ card }) => card.id === id)! };
    }
  }

  #redeliver(ends: Sequences): void {
    const first = (table: Table) => Math.min(ends[table], ...this.#running.map(({ next }) => next[table]));
    const network = first('network');
    if (network < ends.network) this.#redeliverFlows(network, ends.network);
    const dns = first('dns');
    for (const { block, first: from, end } of this.#options.rows('dns', dns, ends.dns)) this.dns(block, from, end);
  }

  #redeliverFlows(first: number, end: number): void {
    const memory = new ConnectionMemory(recalledConnections);
    const observations = new Observations();
    const before = Math.max(1, first - recalledConnections);
    for (const rows of this.#options.rows('network', before, first))
      observations.recall(rows.block, memory, rows.first, rows.end);

    for (const rows of this.#options.rows('network', first, end)) {
      observations.add(rows.block, memory, [this], rows.first, rows.end);
      observations.clear();
    }
  }

  #keep(running: Running): void {
    const { detector, next } = running;
    const began = performance.now();
    const kept: KeptState = {
      version: detector.card.version,
      next: { ...next },
      state: detector.state(),
      received: this.#received,
    };
    this.#options.keep(detector.card.id, serialize(kept));
    running.unkept = 0;
    running.keptAt = performance.now();
    running.keepingMs = running.keptAt - began;
  }

  /**
   * Returns the ids of the stored events that show the detection. Also returns the principals that sent these events or
   * the newest events between the detection's addresses.
   */
  #shownBy(detection: Detection): { readonly ids: string[]; readonly sensors: string[] } {
    const ids = new Set<string>();
    const sensors = this.#sensorsLately(detection);
    for (const { table, seq } of detection.events.slice(0, limits.maxAlertEventIds))
      this.#options.events.visit(table, seq, seq + 1, (block, row) => {
        const sensor = block.texts('sensor_id').text(row);
        ids.add(rowId(block, row));
        if (sensor !== undefined) sensors.add(sensor);
      });
    return { ids: [...ids], sensors: [...sensors].slice(0, limits.maxAlertSensors) };
  }

  /** Returns the senders of the newest events between the addresses that identify the detection's alert. */
  #sensorsLately({ ends, events: [shown], keyed_by = ['src_ip', 'dst_ip'] }: Detection): Set<string> {
    const sensors = new Set<string>();
    const named = keyed_by.filter((end) => ends[end] !== undefined);
    if (shown === undefined || named.length === 0) return sensors;
    const { table } = shown;
    const next = this.#next[table];
    this.#options.events.visit(table, Math.max(1, next - recentRows), next, (block, first, end) => {
      const senders = block.texts('sensor_id');
      // Most blocks have one sender.
      const all = Array.from({ length: senders.list.length }, (_, i) => senders.list.text(i));
      if (all.every((sensor) => sensors.has(sensor))) return;
      const columns = named.map((name) => [block.addresses(name), ends[name]] as const);
      for (let row = first; row < end; row++) {
        const sensor = senders.text(row);
        if (sensor === undefined || sensors.has(sensor)) continue;
        if (columns.every(([column, ip]) => column.text(row) === ip)) sensors.add(sensor);
      }
    });
    return sensors;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Maximum number of events between two evaluations by detectors. Events are counted by sequence, so that a replay gives
 * equal results. With 512, evaluation takes a tenth of the projector's time; with 2048, only a thirtieth.
 */
const evaluatedEvery = 2048;
/** Number of newest events of a table that are searched for the sensors of a finding: two evaluation intervals. */
const recentRows = 2 * evaluatedEvery;
/** Limits the writing of a detector's state to 1/400 of the time. */
const keepingShare = 400;
/** Limits the refreshing of alerts to a tenth of the time. */
const refreshingShare = 9;
/** Number of connections cached during a replay; a power of two. */
const recalledConnections = 2 ** 18;
