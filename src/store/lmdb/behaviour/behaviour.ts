import { deserialize, serialize } from 'node:v8';
import type { Detector, EventRef, Tell } from '../../../detect/behaviour/detector.ts';
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
import type { FlowFold } from '../inventory/seen-events.ts';
import type { Tables } from '../tables.ts';
import { FlowViews } from './flow-view.ts';
import { LookupView } from './lookup-view.ts';

/** What a detector remembered at a moment, and the first event of each table that isn't in it. */
interface KeptState {
  readonly version: number;
  readonly next: Readonly<Record<Table, number>>;
  readonly state: unknown;
  /** Receipt time of the newest event that it counted: epoch milliseconds. Missing in older files. */
  readonly received?: number;
}

interface Running {
  readonly detector: Detector;
  /** The first event of each table that it was not told of. */
  readonly next: Record<Table, number>;
  /** Events that it was told of since its state was written. */
  unkept: number;
  keptAt: number;
  /** What writing its state took last. */
  keepingMs: number;
}

export interface BehaviourOptions {
  readonly tables: Tables;
  readonly events: LmdbEvents;
  readonly isHome: IsHome;
  readonly detectors: () => readonly Detector[];
  readonly found: Pick<FindingsInEvents, 'add'>;
  /** Events after which what a detector remembers is written. */
  readonly eventsPerState: number;
}

/**
 * Runs the behaviour detectors over stored events, in the thread that writes siem.mdb: a part of the inventory, whose
 * position says up to where events were counted. What was found is raised in the transaction that commits the
 * position:
 *
 * ```
 *   events     … 41 42 43 44 45 46 47 48
 *   state             ^                     of each detector, written now and then
 *   position                ^               committed with the alerts of all before it
 *   memory     = state + 43 44 + 45 46
 * ```
 *
 * After a crash or an undone transaction a detector is told again of what came between its state and the position, and
 * what it finds there was raised before: nothing is raised twice or lost.
 *
 * A detector on which an event throws (a bug) is set aside until the next start; the others go on.
 */
export class Behaviour implements FlowFold {
  readonly #options: BehaviourOptions;
  readonly #flows = new FlowViews();
  readonly #lookup: LookupView;
  /** Undefined when memory has nothing yet, or nothing any more. */
  #running: Running[] | undefined;
  /** What is found was raised before: events are told again. */
  #isRecalling = false;
  #keepsAll = false;
  /** When alerts of what goes on are refreshed next, by performance.now(). */
  #refreshAt = 0;
  /** When the newest event that detectors know was received, and the first one after the clock was set back. */
  #received = 0;
  #setBackAt: number | undefined;
  /** Which part of event time, of `judgedMs`, the newest events are of. */
  #judgedTo = Number.NEGATIVE_INFINITY;
  /** The newest part of event time before which alerts of what goes on were refreshed. */
  #refreshedTo = Number.NEGATIVE_INFINITY;

  constructor(options: BehaviourOptions) {
    this.#options = options;
    this.#lookup = new LookupView(options.isHome);
  }

  /** States are written now and then, and need no transaction of their own. */
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

  /** With the next write, so that the next start has nothing to tell again. */
  keepAll(): void {
    this.#keepsAll = true;
    this.#refreshAt = 0;
  }

  /** Refreshes alerts of what goes on, once no event waits. Returns milliseconds after which more of that is due. */
  settle(): number | undefined {
    const waits = () => this.#running?.some(({ detector }) => detector.left.stale > 0) === true;
    if (!waits()) return undefined;
    this.#conclude();
    return waits() ? Math.max(1, this.#refreshAt - performance.now()) : undefined;
  }

  /** The transaction was undone: what memory holds may never have been. */
  forget(): void {
    this.#running = undefined;
    this.#flows.clear();
  }

  /** How often something was not counted, since the detectors were made. */
  limitsReached(): Partial<Record<LimitName, number>> {
    const reached: Partial<Record<LimitName, number>> = {};
    for (const { limit, times } of this.detectorLimits()) reached[limit] = (reached[limit] ?? 0) + times;
    return reached;
  }

  /** The same by detector. */
  detectorLimits(): DetectorLimit[] {
    return (this.#running ?? []).flatMap(({ detector: { card, left } }) => {
      const reached = { maxBehaviourDelay: left.late, maxDetectorKeys: left.forgotten };
      const limits = Object.entries(reached).filter(([, times]) => times > 0);
      return limits.map(([limit, times]) => ({ limit: limit as LimitName, detector: card.id, times }));
    });
  }

  /**
   * Restarts the detectors once the clock has been behind known events for an hour: windows that end in the future would
   * count every new event as late.
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

  /** Whether what was told is judged first: what is of another time moves windows on, and those before go unjudged. */
  #isOfAnotherTime(time: number): boolean {
    const part = Math.floor(time / judgedMs);
    if (part <= this.#judgedTo && part >= this.#judgedTo - limits.maxEventDelayMs / judgedMs) return false;
    this.#judgedTo = part;
    return true;
  }

  /** One detector after the other is told of all rows that wait: its code and its tables then stay near. */
  #tellFlows(): void {
    const { views, first, size } = this.#flows;
    // Which is another list once one of them is set aside.
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

  /** All detectors know the events before this one. */
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
      if (this.#isRecalling) return;
      const { ids, sensors } = this.#shownBy(sighted.events);
      const finding = behaviourFinding(detector.card, sighted, due);
      this.#options.found.add(sensors.length === 0 ? finding : { ...finding, sensors }, ids);
    });
    if (!refreshes) return;
    const now = performance.now();
    this.#refreshAt = now + Math.max(limits.alertRefreshMs, refreshingShare * (now - began));
  }

  #judge(refreshes: boolean, tellOf: (detector: Detector) => Tell): void {
    // As above.
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
    process.emitWarning(
      `the detector ${running.detector.card.id} is set aside until the next start: ${reason}`,
    );
  }

  /** Detectors as they were when the events before the committed position had been told. */
  #recall(): Running[] {
    const { tables, detectors } = this.#options;
    const end = (table: Table) => tables.inventoryState.get(table)?.next_seq ?? 1;
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

  /** Ids of events, those that are still stored, and the principals that sent them. */
  #shownBy(events: readonly EventRef[]): { readonly ids: string[]; readonly sensors: string[] } {
    const ids: string[] = [];
    const sensors = new Set<string>();
    for (const { table, seq } of events.slice(0, limits.maxAlertEventIds))
      for (const { block, first } of this.#options.events.rows(table, seq, seq + 1)) {
        ids.push(rowId(block, first));
        const sensor = block.texts('sensor_id').text(first);
        if (sensor !== undefined) sensors.add(sensor);
      }
    return { ids, sensors: [...sensors] };
  }
}

/**
 * Events between two times that detectors judge, at most: by their sequence, so that it is the same when told again. With
 * 512, judging is a tenth of what the store does; with these, a third of that.
 */
const judgedEvery = 2048;
/** Event time between two of them, at most: the shortest of detectors' slots. */
const judgedMs = 30 * 60_000;
/** Writing states takes at most a four-hundredth of the time for each detector. */
const keepingShare = 400;
/** … and refreshing alerts a tenth. */
const refreshingShare = 9;
/** Connections that are remembered while events are told again; a power of two. */
const recalledConnections = 2 ** 18;
