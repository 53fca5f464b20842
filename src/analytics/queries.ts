import type { EventFilter } from '../events/filter.ts';
import type { Table } from '../events/records.ts';
import type {
  AlertListQuery,
  AuditListQuery,
  EventListQuery,
  ListPage,
  Replay,
  StoreReader,
} from '../store/store.ts';

/** What subscribers missed, as JSON texts. */
export interface ReplayPart {
  readonly messages: readonly { readonly seq: number; readonly json: string }[];
  /** Everything up to here has been read. */
  readonly next: number;
  /** Items that are no longer stored. */
  readonly lost: number;
}

/**
 * What the analytics pool does: queries too long for the main thread, each on one consistent snapshot of the newest
 * flushed state. Results are moved or plain.
 */
export function queries(reader: StoreReader) {
  return {
    listEvents: (query: EventListQuery): ListPage => reader.listEvents(query),
    listAlerts: (query: AlertListQuery): ListPage => reader.listAlerts(query),
    listNotes: ({ alertId, page, perPage }: { alertId: string; page: number; perPage: number }): ListPage =>
      reader.listNotes(alertId, page, perPage),
    listAudit: (query: AuditListQuery): ListPage => reader.listAudit(query),
    replayEvents: (query: { table: Table; since: number; filter: EventFilter; limit: number }): ReplayPart =>
      asMessages(
        reader.replayEvents(query.table, query.since, query.filter, query.limit),
        query.table === 'network' ? 'network_event' : 'dns_event',
      ),
    replayAlerts: (query: { since: number; filter: AlertListQuery; limit: number }): ReplayPart =>
      asMessages(reader.replayAlerts(query.since, query.filter, query.limit), 'alert'),
  };
}

export type Queries = ReturnType<typeof queries>;

function asMessages<T>({ events, next, lost }: Replay<T>, type: string): ReplayPart {
  const messages = events.map(({ seq, id, data }) => ({
    seq,
    json: JSON.stringify({ id, type, attributes: data }),
  }));
  return { messages, next, lost };
}
