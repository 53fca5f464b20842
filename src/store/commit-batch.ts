import { AlertDeduplicator, type MergeParts } from '../alerts/store/alert-deduplicator.ts';
import type { LazyEventId } from '../alerts/store/alert-draft.ts';
import { atLeast } from '../alerts/store/alerts.ts';
import type { PendingFindings } from '../alerts/store/pending-findings.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { diskIsFull } from '../database/group-commit.ts';
import type { Correlations } from '../detect/store/correlations.ts';
import type { Intel } from '../detect/store/intel/intel.ts';
import { unpackDerived } from '../events/derived-data.ts';
import type { Finding } from '../events/finding.ts';
import { type EventBlock, openBlock } from '../events/format/block.ts';
import { rowId } from '../events/resource.ts';
import type { EventStore } from '../events/store/event-store.ts';
import type { AssetsPart } from '../inventory/store/parts.ts';
import type { InventoryEngine } from '../projections/inventory-engine.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Receipts } from './receipts.ts';
import type { Committed, CommittedBlock, IngestBatch, PartialBlock } from './store.ts';

export interface BatchParts extends MergeParts {
  readonly events: EventStore;
  readonly answers: IdempotencyStore;
  readonly receipts: Pick<Receipts, 'requireRoom' | 'give'>;
  readonly inventory: Pick<InventoryEngine<AssetsPart>, 'take'>;
  readonly correlations: Pick<Correlations, 'mayRaiseHigh' | 'take'>;
  readonly found: Pick<PendingFindings, 'isFull'>;
  readonly intel: Pick<Intel, 'met' | 'counted'>;
  readonly alertWindowMs: number;
  readonly nowMs: number;
  /** Whether only reserved space is left on the volume. */
  readonly diskFull: boolean;
}

/**
 * Plans the additions of one ingest request: events, facts about the network, alerts, outbox rows, the
 * idempotency record and the receipt.
 *
 * @throws CONFLICT if the Idempotency-Key was used for another request; UNAVAILABLE if the disk is full, if
 * the outbox is full and the batch may cause alerts that must be logged, or if a receipt is requested and too
 * many receipts wait
 */
export function planBatch(parts: BatchParts, batch: IngestBatch): () => Committed {
  const { outbox, answers, receipts, nowMs } = parts;
  const { idempotency } = batch;
  if (batch.receipt !== undefined) receipts.requireRoom(batch.receipt.sensor.id);
  const receiptOf = (answer: IngestAnswer, earlierId?: string): Pick<Committed, 'receipt'> =>
    batch.receipt === undefined ? {} : { receipt: receipts.give(batch.receipt, answer, earlierId) };
  const first = idempotency === undefined ? undefined : answers.find(idempotency);
  if (first !== undefined)
    return () => {
      const { answer } = first;
      return { answer, replayed: true, blocks: [], ...receiptOf(answer, first.receipt) };
    };
  if (parts.diskFull) throw diskIsFull();
  const { findings: derived, facts, sightings, namedHosts } = unpackDerived(batch);
  const met = parts.intel.met(namedHosts, nowMs);
  const findings = met.length === 0 ? derived : [...derived, ...met.map(({ finding }) => finding)];
  if (
    parts.found.isFull ||
    findings.some(({ severity }) => atLeast(severity, 'high')) ||
    (!outbox.hasRoom && parts.correlations.mayRaiseHigh(facts))
  )
    outbox.requireRoom();
  return () => {
    const { blocks, refused, eventOf, duplicates } = appendBlocks(parts.events, batch.blocks);
    parts.inventory.take(blocks, sightings);
    for (const { list_id, finding } of met) parts.intel.counted(list_id, finding.timestamp);
    const merge = new AlertDeduplicator(parts, parts.alertWindowMs, nowMs);
    const found = findings.flatMap((finding) => withEvents(finding, eventOf));
    const inputs = facts.flatMap((fact) => withEvents(fact, eventOf));
    const correlated = parts.correlations.take(
      inputs.map(({ about: { sensor_id, ...about }, events: [event] }) => ({
        ...about,
        event: reference(sensor_id, typeof event === 'function' ? event() : event),
      })),
      nowMs,
    );
    for (const { finding, events } of correlated) found.push({ about: finding, events });
    for (const { about, events } of found.sort((a, b) => a.about.timestamp - b.about.timestamp))
      merge.add(about, events);
    merge.finish();
    const answer = withDuplicates(batch.answer, duplicates);
    const given = receiptOf(answer);
    if (idempotency !== undefined) answers.remember(idempotency, answer, given.receipt?.id);
    const fired = correlated.flatMap(({ finding }) => (finding.continues === undefined ? [finding.rule_id] : []));
    const some = refused.length === 0 ? {} : { refused };
    return { answer, replayed: false, blocks, ...some, fired, ...given };
  };
}

/**
 * Returns the reference to a record, as a correlation stores it: the principal that sent the record, and the
 * id of its event, if any.
 */
function reference(sensorId: string | undefined, event: string | undefined): string | undefined {
  return sensorId === undefined ? event : `${sensorId} ${event ?? ''}`;
}

/**
 * Pairs a finding or fact with its event, if any. Returns an empty list if the id of the event already existed,
 * because the findings and facts of that event were already processed.
 */
function withEvents<T extends Pick<Finding, 'event'>>(
  about: T,
  eventOf: Stored['eventOf'],
): { about: T; events: readonly LazyEventId[] }[] {
  if (about.event === undefined) return [{ about, events: [] }];
  const event = eventOf(about.event);
  return event === undefined ? [] : [{ about, events: [event] }];
}

/** The result of storing a batch's blocks. */
interface Stored {
  readonly blocks: CommittedBlock[];
  readonly refused: readonly PartialBlock[];
  readonly duplicates: number;
  /**
   * Returns a function that creates the id of an event; undefined for a row whose explicit id already existed. The id
   * is created on demand, because this takes 1 µs.
   */
  readonly eventOf: (event: NonNullable<Finding['event']>) => (() => string) | undefined;
}

function appendBlocks(events: EventStore, buffers: readonly ArrayBuffer[]): Stored {
  const appended = buffers.map((buffer) => events.append(buffer));
  const opened = new Map<number, EventBlock>();
  /** Stored rows by submitted row, for each block of which some rows were not stored; undefined for other blocks. */
  const places = appended.map(({ kept }) => kept && new Map(Array.from(kept, (row, stored) => [row, stored])));
  return {
    blocks: appended.map(({ committed }) => committed).filter(({ rows }) => rows > 0),
    refused: appended.flatMap(({ kept }, block) => (kept === undefined ? [] : [{ block, kept }])),
    duplicates: appended.reduce((sum, { duplicates }) => sum + duplicates, 0),
    eventOf: ({ block: index, row }) => {
      const kept = places[index];
      const stored = kept === undefined ? row : kept.get(row);
      if (stored === undefined) return undefined;
      return () => {
        const { committed } = appended[index]!;
        const block = opened.get(index) ?? openBlock(committed.buffer, committed.first_seq);
        opened.set(index, block);
        return rowId(block, stored);
      };
    },
  };
}

function withDuplicates(answer: IngestAnswer, duplicates: number): IngestAnswer {
  if (duplicates === 0) return answer;
  return {
    ...answer,
    accepted: answer.accepted - duplicates,
    duplicates: answer.duplicates + duplicates,
  };
}
