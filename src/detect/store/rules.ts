import { ServiceError } from '../../errors.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor } from '../../store/store.ts';
import type { Correlations } from './correlations.ts';
import type { RulesChange, StoredRules } from './rule-row.ts';
import type { DetectTables } from './tables.ts';

type RuleTables = Pick<DetectTables, 'rules' | 'rulesState'>;

/** Returns the version of the stored rules; 0 if there are no rules yet. */
export function rulesVersion({ rulesState }: RuleTables): number {
  const bytes = rulesState.getStrict('version');
  return bytes === undefined ? 0 : bytes.readUIntBE(0, 6);
}

export function storedRules(tables: RuleTables): StoredRules {
  const rules = Array.from(tables.rules.getRange(), ({ value }) => value);
  return { version: rulesVersion(tables), rules, correlations: tables.rulesState.getStrict('correlations') };
}

/**
 * Plans one change of the rules: rows, correlations and the log entry commit together.
 *
 * @throws VERSION_MISMATCH if another change was made first; UNAVAILABLE when the outbox is full
 */
export function planRules(
  parts: { readonly tables: DetectTables; readonly outbox: Outbox; readonly rules: Correlations },
  { version, put, remove, correlations, event }: RulesChange,
  by: Actor,
  nowMs: number,
): () => void {
  const { tables, outbox } = parts;
  const kept = rulesVersion(tables);
  if (version !== kept + 1)
    throw new ServiceError('VERSION_MISMATCH', `the rules have version ${kept}, not ${version - 1}`, {
      version: kept,
    });
  if (event !== undefined) outbox.requireRoom();
  return () => {
    for (const id of remove) tables.rules.removeSync(id);
    for (const row of put) tables.rules.putSync(row.id, row);
    const bytes = Buffer.alloc(6);
    bytes.writeUIntBE(version, 0, 6);
    tables.rulesState.putSync('version', bytes);
    parts.rules.use(correlations);
    if (event !== undefined) outbox.add(event, nowMs, by.call);
  };
}
