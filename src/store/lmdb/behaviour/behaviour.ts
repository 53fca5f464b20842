import { deserialize, serialize } from 'node:v8';
import type { Detector, Sighted, Tell } from '../../../detect/behaviour/detector.ts';
import { behaviourFinding } from '../../../detect/behaviour/finding.ts';
import type { EventBlock } from '../../../events/block.ts';
import type { IsHome } from '../../../events/home-networks.ts';
import type { Table } from '../../../events/records.ts';
import { rowId } from '../../../events/resource.ts';
import { ConnectionMemory } from '../../../inventory/connection-memory.ts';
import { Observations } from '../../../inventory/observations.ts';
import type { FlowFact } from '../../../inventory/seen.ts';
import { type LimitName, limits } from '../../../limits.ts';
import type { DetectorLimit } from '../../store.ts';
import type { LmdbEvents } from '../events.ts';
import type { FindingsInEvents } from '../found-in-events.ts';
import { countedTo } from '../inventory/counted-to.ts';
import type { FlowFold } from '../inventory/seen-events.ts';
import type { Tables } from '../tables.ts';
import { FlowViews } from './flow-view.ts';
import { LookupView } from './lookup-view.ts';

/** A detector's state at some point, and the first event of each table that is not included. */
interface KeptState {
  readonly version: number;
  readonly next: Readonly<Record<Table, number>>;
  readonly state: unknown;
  /** Receipt time of the newest included event: epoch milliseconds. Absent in older files. */
  readonly received?: number;
}

interface Running {
  readonly detector: Detector;
  /** The first event of each table that the detector has not received. */
  readonly next: Record<Table, number>;
  /** Events received since its state was written. */
  unkept: number;
  keptAt: number;
  /** Duration of the last write of its state. */
  keepingMs: number;
}

export interface BehaviourOptions {
  readonly tables: Tables;
  readonly events: LmdbEvents;
  readonly isHome: IsHome;
  readonly detectors: () => readonly Detector[];
  readonly found: Pick<FindingsInEvents, 'add'>;
  /** Events after which a detector's state is written. */
  readonly eventsPerState: number;
}

/**
 * Runs the behaviour detectors over stored events, in the store thread. Part of the inventory, whose position
 * says which events were processed. Findings are raised in the transaction that commits the position:
 *
 * ```
 *   events     … 41 42 43 44 45 46 47 48
 *   state             ^                     of each detector, written from time to time
 *   position                ^               committed with the alerts of all earlier events
 *   memory     = state + 43 44 + 45 46
 * ```
 *
 * After a crash or an aborted transaction a detector receives the events between its state and the position
 * again. Its findings for these were raised before: none is raised twice or lost. Pending refreshes are lost
 * with the memory, so these findings refresh their alerts, and `settle` recalls the state even if no new
 * event does.
 *
 * A detector that throws on an event (a bug) is disabled until the next start; the others continue.
 */
export class Behaviour implements FlowFold {
  readonly #options: BehaviourOptions;
  readonly #flows = new FlowViews();
  readonly #lookup: LookupView;
  /** Undefined when memory is empty: before the first use and after `forget`. */
  #running: Running[] | undefined;
  /** Events are replayed: their findings were raised before, and refresh the alerts. */
  #isRecalling = false;
  #keepsAll = false;
  /** When alerts of ongoing activity are refreshed next, by performance.now(). */
  #refreshAt = 0;
  /** When the newest processed event was received, and the first one after the clock was set back. */
  #received = 0;
  #setBackAt: number | undefined;
  /** The part of event time, in units of `judgedMs`, of the newest events. */
  #judgedTo = Number.NEGATIVE_INFINITY;
  /** The newest part of event time before which alerts of what goes on were refreshed. */
  #refreshedTo = Number.NEGATIVE_INFINITY;

  constructor(options: BehaviourOptions) {
    this.#options = options;
    this.#lookup = new LookupView(options.isHome);
  }

  /** Always 0: states are written from time to time, and need no transaction of their own. */
  readonly dirty = 0;

  begin(block: EventBlock, from: number): void {
    this.#running ??= this.#recall();
    this.#followClock(block, from);
    this.#flows.begin(block, from);
  }

  flow(fact: Readonly<FlowFact>): void {
    if (this.#isOfAnotherTime(fact.first)) {
      this.#tellFlows();
      this.#concludeTime();
    }
    const seq = this.#flows.add(fact);
    if (seq % judgedEvery === 0) {
      this.#tellFlows();
      this.#conclude();
    } else if (this.#flows.isFull) this.#tellFlows();
  }

  end(): void {
    this.#tellFlows();
    this.#told('network', this.#flows.next);
  }

  dns(block: EventBlock, from: number, to: number): void {
    this.#running ??= this.#recall();
    this.#followClock(block, from);
    this.#lookup.begin(block);
    for (let row = from; row < to; row++) {
      this.#lookup.row(row);
      if (this.#isOfAnotherTime(this.#lookup.time)) this.#concludeTime();
      this.#tellLookup();
      if (this.#lookup.seq % judgedEvery === 0) this.#conclude();
    }
    this.#told('dns', block.firstSeq + to);
  }

  /** Writes the states that are due. */
  write(): void {
    const now = performance.now();
    const { eventsPerState } = this.#options;
    for (const running of this.#running ?? []) {
      const { unkept, keptAt, keepingMs } = running;
      const isDue = unkept >= eventsPerState && now - keptAt >= keepingMs * keepingShare;
      if (!(isDue || unkept >= limits.maxUnkeptDetectorEvents || (this.#keepsAll && unkept > 0))) continue;
      this.#keep(running);
      if (!this.#keepsAll) break;
    }
    this.#keepsAll = false;
  }

  /** Writes all states with the next write, so that the next start has nothing to replay. */
  keepAll(): void {
    this.#keepsAll = true;
    this.#refreshAt = 0;
  }

  /**
   * Refreshes alerts of ongoing activity when no event is pending. Returns milliseconds after which more is
   * due.
   */
  settle(): number | undefined {
    this.#running ??= this.#recall();
    const waits = () => this.#running?.some(({ detector }) => detector.left.stale > 0) === true;
    if (!waits()) return undefined;
    this.#conclude();
    return waits() ? Math.max(1, this.#refreshAt - performance.now()) : undefined;
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    this.#running = undefined;
    this.#flows.clear();
  }

  /** How often events were dropped or keys forgotten, since the detectors were created. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached: Partial<Record<LimitName, number>> = {};
    for (const { limit, times } of this.detectorLimits()) reached[limit] = (reached[limit] ?? 0) + times;
    return reached;
  }

  /** As `limitsReached`, per detector. */
  detectorLimits(): DetectorLimit[] {
    return (this.#running ?? []).flatMap(({ detector: { card, left } }) => {
      const reached = { maxBehaviourDelay: left.late, maxDetectorKeys: left.forgotten };
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
    this.#running = this.#running!.map((running) => ({
      ...running,
      detector: fresh.get(running.detector.card.id)!,
    }));
    this.#received = receipt;
    this.#setBackAt = undefined;
  }

  /**
   * Whether earlier events must be evaluated first: an event of another part of time moves windows forward,
   * and the earlier ones would not be evaluated.
   */
  #isOfAnotherTime(time: number): boolean {
    const part = Math.floor(time / judgedMs);
    if (part <= this.#judgedTo && part >= this.#judgedTo - limits.maxEventDelayMs / judgedMs) return false;
    this.#judgedTo = part;
    return true;
  }

  /**
   * Passes all waiting rows to one detector after the other, which keeps its code and tables in the
   * processor's cache.
   */
  #tellFlows(): void {
    const { views, first, size } = this.#flows;
    // `#setAside` replaces the list; this loop continues over the old one.
    for (const running of this.#running!) {
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

  #tellLookup(): void {
    const lookup = this.#lookup;
    for (const running of this.#running!) {
      if (running.detector.lookup === undefined || lookup.seq < running.next.dns) continue;
      try {
        running.detector.lookup(lookup);
      } catch (error) {
        this.#setAside(running, error);
      }
    }
  }

  /** Records that all detectors have received the events before this one. */
  #told(table: Table, next: number): void {
    for (const running of this.#running!) {
      if (next <= running.next[table]) continue;
      running.unkept += next - running.next[table];
      running.next[table] = next;
    }
    this.#conclude();
  }

  /** Refreshes at the same event times however fast events come; only once each, as refreshing costs much more. */
  #concludeTime(): void {
    const isBelievable = this.#judgedTo * judgedMs <= this.#received + limits.maxClockLeadMs;
    const isNewest = isBelievable && this.#judgedTo > this.#refreshedTo;
    if (isNewest) this.#refreshedTo = this.#judgedTo;
    this.#conclude(isNewest);
  }

  #conclude(isAtNewTime = false): void {
    const began = performance.now();
    const refreshes = !this.#isRecalling && (isAtNewTime || began >= this.#refreshAt);
    this.#judge(refreshes, (detector) => (sighted, due) => {
      const { ids, sensors } = this.#shownBy(sighted);
      const finding = behaviourFinding(detector.card, sighted, this.#isRecalling ? 'grown' : due);
      this.#options.found.add(sensors.length === 0 ? finding : { ...finding, sensors }, ids);
    });
    if (!refreshes) return;
    const now = performance.now();
    this.#refreshAt = now + Math.max(limits.alertRefreshMs, refreshingShare * (now - began));
  }

  #judge(refreshes: boolean, tellOf: (detector: Detector) => Tell): void {
    // As in `#tellFlows`.
    for (const running of this.#running!) {
      const { detector } = running;
      try {
        detector.judge(tellOf(detector), refreshes);
      } catch (error) {
        this.#setAside(running, error);
      }
    }
  }

  #setAside(running: Running, error: unknown): void {
    this.#running = this.#running!.filter((one) => one !== running);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.emitWarning(`detector ${running.detector.card.id} is disabled until the next start: ${reason}`);
  }

  /** Restores the detectors to their state after the events before the committed position. */
  #recall(): Running[] {
    const { tables, detectors } = this.#options;
    const end = (table: Table) => countedTo(tables, this.#options.events, table);
    const ends = { network: end('network'), dns: end('dns') };
    this.#received = 0;
    const running = detectors().map((detector) => this.#restored(detector, ends));
    this.#running = running;
    this.#isRecalling = true;
    this.#tellAgain(ends);
    this.#isRecalling = false;
    return this.#running;
  }

  #restored(detector: Detector, ends: Readonly<Record<Table, number>>): Running {
    const start = (table: Table) => Math.max(1, ends[table] - limits.maxUnkeptDetectorEvents);
    const fresh = { network: start('network'), dns: start('dns') };
    const running = { detector, next: fresh, unkept: 0, keptAt: performance.now(), keepingMs: 0 };
    const bytes = this.#options.tables.behaviourState.get(detector.card.id);
    if (bytes === undefined) return running;
    const kept = deserialize(bytes) as KeptState;
    if (kept.version !== detector.card.version) return running;
    detector.restore(kept.state);
    this.#received = Math.max(this.#received, kept.received ?? 0);
    return { ...running, next: { ...kept.next } };
  }

  #tellAgain(ends: Readonly<Record<Table, number>>): void {
    const first = (table: Table) => Math.min(ends[table], ...this.#running!.map(({ next }) => next[table]));
    const network = first('network');
    if (network < ends.network) this.#tellFlowsAgain(network, ends.network);
    const dns = first('dns');
    for (const { block, first: from, end } of this.#options.events.rows('dns', dns, ends.dns))
      this.dns(block, from, end);
  }

  #tellFlowsAgain(first: number, end: number): void {
    const { events } = this.#options;
    const memory = new ConnectionMemory(recalledConnections);
    const observations = new Observations();
    const before = Math.max(1, first - recalledConnections);
    for (const rows of events.rows('network', before, first))
      observations.recall(rows.block, memory, rows.first, rows.end);

    for (const rows of events.rows('network', first, end)) {
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
    this.#options.tables.behaviourState.putSync(detector.card.id, serialize(kept));
    running.unkept = 0;
    running.keptAt = performance.now();
    running.keepingMs = running.keptAt - began;
  }

  /**
   * Returns the ids of the events that show the detection, if still stored, and the principals that sent
   * these or the newest events between its ends.
   */
  #shownBy(sighted: Sighted): { readonly ids: string[]; readonly sensors: string[] } {
    const { events } = sighted;
    const ids: string[] = [];
    const sensors = this.#sensorsLately(sighted);
    for (const { table, seq } of events.slice(0, limits.maxAlertEventIds))
      for (const { block, first } of this.#options.events.rows(table, seq, seq + 1)) {
        ids.push(rowId(block, first));
        const sensor = block.texts('sensor_id').text(first);
        if (sensor !== undefined) sensors.add(sensor);
      }
    return { ids, sensors: [...sensors].slice(0, limits.maxAlertSensors) };
  }

  /** Returns the senders of the newest events between the ends that identify its alert. */
  #sensorsLately({ ends, events: [shown], keyed_by = ['src_ip', 'dst_ip'] }: Sighted): Set<string> {
    const sensors = new Set<string>();
    const named = keyed_by.filter((end) => ends[end] !== undefined);
    if (shown === undefined || named.length === 0) return sensors;
    const { events } = this.#options;
    const { table } = shown;
    const next = events.next(table);
    for (const { block, first, end } of events.rows(table, Math.max(1, next - recentRows), next)) {
      const senders = block.texts('sensor_id');
      // Most blocks have one sender.
      const all = Array.from({ length: senders.list.length }, (_, i) => senders.list.text(i));
      if (all.every((sensor) => sensors.has(sensor))) continue;
      const columns = named.map((name) => [block.addresses(name), ends[name]] as const);
      for (let row = first; row < end; row++) {
        const sensor = senders.text(row);
        if (sensor === undefined || sensors.has(sensor)) continue;
        if (columns.every(([column, ip]) => column.text(row) === ip)) sensors.add(sensor);
      }
    }
    return sensors;
  }
}

/**
 * Maximum number of events between two evaluations by detectors. Counted by sequence, so that a replay gives
 * the same result. With 512, evaluation takes a tenth of the store's time; with this, a third of that.
 */
const judgedEvery = 2048;
/**
 * The newest events of a table whose senders count for a finding: more than those since the last two
 * evaluations.
 */
const recentRows = 2 * judgedEvery;
/** Maximum event time between two evaluations: the shortest slot of all detectors. */
const judgedMs = 30 * 60_000;
/** Writing the state of a detector takes at most one four-hundredth of the time. */
const keepingShare = 400;
/** Refreshing alerts takes at most a tenth of the time. */
const refreshingShare = 9;
/** Connections remembered during a replay; a power of two. */
const recalledConnections = 2 ** 18;
