import { within } from '../../database/grouped-rows.ts';
import { slackOf } from '../../database/trim-history.ts';
import { limits } from '../../limits.ts';
import type { RiskChange, RiskHistoryView } from '../../store/store.ts';
import type { InventoryTables } from './tables.ts';

type Table = InventoryTables['riskHistory'];

/**
 * The risk score before and after a change, and the highest score from the change to the next stored change.
 */
export type RiskChangeRow = readonly [before: number, after: number, highest: number];

interface PlacedChange {
  readonly at: number;
  readonly row: RiskChangeRow;
}

const most = limits.maxRiskChanges;

/** Records a change of a risk score. Runs within a transaction. */
export function recordRisk(table: Table, id: string, before: number, after: number, nowMs: number): void {
  const last = lastChange(table, id, Number.POSITIVE_INFINITY);
  // The time is not before the last record, so that the last record has the current score even if the clock was set
  // back.
  const at = Math.max(nowMs, last?.at ?? nowMs);
  const change: RiskChangeRow = [before, after, after];
  table.putSync([id, at], last?.at === at ? together(last.row, change) : change);
  if (table.getKeysCount(within<number>(id)) > most + slackOf(most)) thin(table, id);
}

/** Removes the history of an asset. Runs within a transaction. */
export function forgetRisk(table: Table, id: string): void {
  for (const key of [...table.getKeys(within<number>(id))]) table.removeSync(key);
}

/**
 * Returns the changes in a range of time (epoch milliseconds, both limits inclusive), and the score before the
 * first change.
 */
export function readRiskHistory(table: Table, id: string, from: number, to: number): RiskHistoryView {
  const inRange = { start: [id, from] as [string, number], end: [id, to + 1] as [string, number] };
  const rows = Array.from(table.getRange(inRange), ({ key, value }) => ({ at: key[1], row: value }));
  const changes = rows.map(({ at, row: [, score, highest] }): RiskChange => ({ at, score, highest }));
  const held = rows[0]?.row[0] ?? lastChange(table, id, from)?.row[1] ?? nextChange(table, id, to)?.row[0];
  return { held, changes };
}

/**
 * Merges the changes that are closest in time until the limit is met. A score that fluctuates quickly loses
 * intermediate values, but its history reaches equally far back.
 */
function thin(table: Table, id: string): void {
  const changes = changesOf(table, id);
  const gaps = changes.slice(1).map(({ at }, i) => ({ gap: at - changes[i]!.at, i: i + 1 }));
  const soonest = gaps.sort((a, b) => a.gap - b.gap || a.i - b.i).slice(0, changes.length - most);
  const isGone = new Set(soonest.map(({ i }) => i));
  let kept: PlacedChange | undefined;
  for (const [i, change] of changes.entries()) {
    if (kept !== undefined && isGone.has(i)) {
      kept = { at: kept.at, row: together(kept.row, change.row) };
      table.removeSync([id, change.at]);
      table.putSync([id, kept.at], kept.row);
    } else kept = change;
  }
}

const together = ([before, , high]: RiskChangeRow, [, after, highest]: RiskChangeRow): RiskChangeRow => [
  before,
  after,
  Math.max(high, highest),
];

const changesOf = (table: Table, id: string): PlacedChange[] =>
  Array.from(table.getRange(within<number>(id)), ({ key, value }) => ({ at: key[1], row: value }));

/** Returns the last change at or before a time; undefined without a change. */
function lastChange(table: Table, id: string, upTo: number): PlacedChange | undefined {
  const range = { start: [id, upTo] as [string, number], end: [id] as unknown as [string, number] };
  for (const { key, value } of table.getRange({ ...range, reverse: true, limit: 1 })) return { at: key[1], row: value };
  return undefined;
}

function nextChange(table: Table, id: string, after: number): PlacedChange | undefined {
  const range = { start: [id, after + 1] as [string, number], end: within<number>(id).end, limit: 1 };
  for (const { key, value } of table.getRange(range)) return { at: key[1], row: value };
  return undefined;
}
