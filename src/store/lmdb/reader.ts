import { join } from 'node:path';
import { openDatabase } from '../../lmdb.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { StoreReader } from '../store.ts';
import { listAlerts, replayAlerts } from './alert-list.ts';
import { listAudit } from './audit.ts';
import { LmdbEvents } from './events.ts';
import { listNotes } from './notes.ts';
import { listPrincipals, principalByName } from './principals.ts';
import { databaseFile, entryCount, lastSequence, openTables } from './tables.ts';
import { listTokens } from './tokens.ts';

/**
 * Opens siem.mdb for reading; `openStore` has created it before.
 *
 * @param cancelled - asked now and then by queries of events and of the audit log; once true, they end with CANCELLED
 */
export function openReader(dataDir: string, cancelled?: () => boolean): StoreReader {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  const tables = openTables(root);
  const events = new LmdbEvents(root, cancelled);
  /** Each call reads one snapshot, the newest. */
  const fresh = <A extends unknown[], R>(read: (...args: A) => R) => {
    return (...args: A): R => {
      root.resetReadTxn();
      return read(...args);
    };
  };
  const byId = <T>(table: { get(id: string): T | undefined }, text: string): T | undefined => {
    const id = canonicalUuid(text);
    return id === undefined ? undefined : table.get(id);
  };
  return {
    listEvents: fresh((query) => events.list(query)),
    getEvent: fresh((table, id) => events.get(table, id)) as StoreReader['getEvent'],
    replayEvents: fresh((table, since, filter, limit) => events.replay(table, since, filter, limit)),
    listAlerts: fresh((query) => listAlerts(tables, query)),
    getAlert: fresh((id) => byId(tables.alerts, id)?.alert),
    replayAlerts: fresh((since, filter, limit) => replayAlerts(tables, since, filter, limit)),
    listNotes: fresh((alertId, page, perPage) => listNotes(tables, alertId, page, perPage)),
    principal: fresh((id) => byId(tables.principals, id)),
    principalByName: fresh((name) => principalByName(tables, name)),
    token: fresh((jti) => byId(tables.tokens, jti)),
    holder: fresh((jti) => {
      const token = byId(tables.tokens, jti);
      return token && { token, principal: tables.principals.get(token.principal_id) };
    }),
    listTokens: fresh((page, perPage) => listTokens(tables, page, perPage)),
    listPrincipals: fresh((page, perPage) => listPrincipals(tables, page, perPage)),
    administrators: fresh(() => entryCount(tables.administrators)),
    listAudit: fresh((query) => listAudit(tables, query, cancelled ?? (() => false))),
    head: fresh((channel) =>
      channel === 'alerts'
        ? lastSequence(tables.alertLog)
        : events.head(channel === 'events.network' ? 'network' : 'dns'),
    ),
    close: () => void root.close(),
  };
}
