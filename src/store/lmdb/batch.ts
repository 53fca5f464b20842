import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import { type EventBlock, openBlock } from '../../events/block.ts';
import type { Finding } from '../../events/finding.ts';
import { rowId } from '../../events/resource.ts';
import type { Committed, CommittedBlock, IngestBatch, RefusedRows } from '../store.ts';
import type { EventRef } from './alert-draft.ts';
import { AlertMerge, type MergeParts } from './alert-merge.ts';
import { atLeast } from './alerts.ts';
import type { LmdbEvents } from './events.ts';
import type { FindingsInEvents } from './found-in-events.ts';
import { diskIsFull } from './group-commit.ts';
import type { RememberedAnswers } from './idempotency.ts';
import type { Intel } from './intel/intel.ts';
import type { Inventory } from './inventory/inventory.ts';
import type { AssetsPart } from './inventory/parts.ts';
import type { Receipts } from './receipts.ts';
import type { Correlations } from './rules/correlations.ts';

export interface BatchParts extends MergeParts {
  readonly events: LmdbEvents;
  readonly answers: RememberedAnswers;
  readonly receipts: Pick<Receipts, 'requireRoom' | 'give'>;
  readonly inventory: Pick<Inventory<AssetsPart>, 'take'>;
  readonly correlations: Pick<Correlations, 'mayRaiseHigh' | 'take'>;
  readonly found: Pick<FindingsInEvents, 'isFull'>;
  readonly intel: Pick<Intel, 'met' | 'counted'>;
  readonly alertWindowMs: number;
  readonly nowMs: number;
  /** Whether only the reserve is left on the volume. */
  readonly diskFull: boolean;
}

/**
 * Plans the additions of one ingest request: events and what they show of the network, alerts, outbox rows,
 * the idempotency record and the receipt.
 *
 * @throws CONFLICT when the Idempotency-Key was used for another request; UNAVAILABLE when the disk is full,
 * when it may cause alerts that must be logged and the outbox is full, or when a receipt is requested and too
 * many wait.
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
      const again = { answer, replayed: true, blocks: [], alerts: [], outbox: outbox.rows };
      return { ...again, ...receiptOf(answer, first.receipt) };
    };
  if (parts.diskFull) throw diskIsFull();
  const { facts = [] } = batch;
  const met = parts.intel.met(batch.contacts ?? [], nowMs);
  const findings =
    met.length === 0 ? batch.findings : [...batch.findings, ...met.map(({ finding }) => finding)];
  if (
    parts.found.isFull ||
    findings.some(({ severity }) => atLeast(severity, 'high')) ||
    (!outbox.hasRoom && parts.correlations.mayRaiseHigh(facts))
  )
    outbox.requireRoom();
  return () => {
    const { blocks, refused, eventOf, duplicates } = appendBlocks(parts.events, batch.blocks);
    parts.inventory.take(blocks, batch.sightings ?? []);
    for (const { list_id, finding } of met) parts.intel.counted(list_id, finding.timestamp);
    const merge = new AlertMerge(parts, parts.alertWindowMs, nowMs);
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
    const alerts = merge.finish();
    const answer = withDuplicates(batch.answer, duplicates);
    const given = receiptOf(answer);
    if (idempotency !== undefined) answers.remember(idempotency, answer, given.receipt?.id);
    const fired = correlated.flatMap(({ finding }) =>
      finding.continues === undefined ? [finding.rule_id] : [],
    );
    const some = refused.length === 0 ? {} : { refused };
    return { answer, replayed: false, blocks, ...some, alerts, fired, outbox: outbox.rows, ...given };
  };
}

/**
 * The reference to a record that a correlation stores: the principal that sent it, and the id of its event if
 * it has one.
 */
function reference(sensorId: string | undefined, event: string | undefined): string | undefined {
  return sensorId === undefined ? event : `${sensorId} ${event ?? ''}`;
}

/**
 * Pairs a finding with its event, if any; empty for an event whose id already existed: it was counted then.
 */
function withEvents<T extends Pick<Finding, 'event'>>(
  about: T,
  eventOf: Stored['eventOf'],
): { about: T; events: readonly EventRef[] }[] {
  if (about.event === undefined) return [{ about, events: [] }];
  const event = eventOf(about.event);
  return event === undefined ? [] : [{ about, events: [event] }];
}

/** Where the rows of a batch's blocks were stored. */
interface Stored {
  readonly blocks: CommittedBlock[];
  readonly refused: readonly RefusedRows[];
  readonly duplicates: number;
  /** Makes the id, which takes a microsecond. Undefined for a row whose explicit id already existed. */
  readonly eventOf: (event: NonNullable<Finding['event']>) => (() => string) | undefined;
}

function appendBlocks(events: LmdbEvents, buffers: readonly ArrayBuffer[]): Stored {
  const appended = buffers.map((buffer) => events.append(buffer));
  const opened = new Map<number, EventBlock>();
  /** For blocks of which some rows were not stored: where the others went. */
  const places = appended.map(
    ({ kept }) => kept && new Map(Array.from(kept, (row, stored) => [row, stored])),
  );
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
