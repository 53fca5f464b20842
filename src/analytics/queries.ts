import { withDamagedRows } from '../contract/damaged-rows.ts';
import type { AlertGroups } from '../contract/resources/alert-groups.ts';
import type { Histogram } from '../contract/resources/histogram.ts';
import type { RiskHistory } from '../contract/resources/risk-history.ts';
import type { RiskScore } from '../contract/resources/risk-score.ts';
import type { ValueCounts } from '../contract/resources/value-counts.ts';
import type { EventFilter } from '../events/query/filter.ts';
import type { Table } from '../events/records.ts';
import type {
  AlertHistogramQuery,
  EventExportPart,
  EventExportQuery,
  EventHistogramQuery,
  EventListQuery,
  EventValuesQuery,
  ListFilter,
  ListPage,
  ListQuery,
  Replay,
  StoreReader,
  TopologyQuery,
} from '../store/store.ts';
import { type ExportPage, type ExportQuery, exportAlerts } from './alert-export.ts';
import { type GroupQuery, groupAlerts } from './alert-groups.ts';
import { type ArrowEvents, type ArrowLines, arrowEvents, arrowPage } from './arrow/page.ts';
import { type DashboardQuery, dashboard } from './dashboard.ts';
import { riskHistory } from './risk-history.ts';
import { riskScore } from './risk-score.ts';
import { replayTopology, type TopologyReplay } from './topology.ts';
import { trends } from './trends.ts';
import type { WindowQuery } from './window.ts';

/** Messages that subscribers missed, as JSON texts. */
export interface ReplayPart {
  readonly messages: readonly { readonly seq: number; readonly json: string }[];
  /** Sequence up to which everything has been read. */
  readonly next: number;
  /** Number of items that are no longer stored. */
  readonly lost: number;
}

/**
 * The tasks of the analytics pool: queries too long for the main thread, each on one consistent snapshot of the
 * newest flushed state. Results are transferred or plain data.
 */
export function queries(reader: StoreReader) {
  const all = {
    listEvents: (query: EventListQuery): ListPage => reader.listEvents(query),
    exportEvents: (query: EventExportQuery): EventExportPart => reader.exportEvents(query),
    exportArrowEvents: (query: ArrowEvents) => arrowEvents(reader, query),
    arrowPage: (page: ArrowLines) => arrowPage(page),
    listAlerts: (query: ListQuery): ListPage => reader.listAlerts(query),
    /**
     * Returns the number of alerts that match at one moment, and the ids of the first alerts in the order of
     * creation.
     */
    matchAlerts({ filter, limit }: { filter: ListFilter; limit: number }): { ids: string[]; total: number } {
      const ids: string[] = [];
      let total = 0;
      reader.visitAlertFacts(filter, {}, (id) => {
        total++;
        if (ids.length < limit) ids.push(id);
        return undefined;
      });
      return { ids, total };
    },
    exportAlerts: (query: ExportQuery): ExportPage => exportAlerts(reader, query),
    eventHistogram: (query: EventHistogramQuery): Histogram => reader.eventHistogram(query),
    eventValueCounts: (query: EventValuesQuery): ValueCounts => reader.eventValueCounts(query),
    alertHistogram: (query: AlertHistogramQuery): Histogram => reader.alertHistogram(query),
    groupAlerts: (query: GroupQuery): AlertGroups => groupAlerts(reader, query),
    listAlertHistory: ({ alertId, query }: { alertId: string; query: ListQuery }): ListPage =>
      reader.listAlertHistory(alertId, query),
    listAssets: (query: ListQuery): ListPage => reader.listAssets(query),
    listAssetHistory: ({ assetId, query }: { assetId: string; query: ListQuery }): ListPage =>
      reader.listAssetHistory(assetId, query),
    listServices: (query: ListQuery): ListPage => reader.listServices(query),
    listNotes: ({ alertId, query }: { alertId: string; query: ListQuery }): ListPage =>
      reader.listNotes(alertId, query),
    listSilences: (query: ListQuery): ListPage => reader.listSilences(query, Date.now()),
    listPrincipals: (query: ListQuery): ListPage => reader.listPrincipals(query),
    listTokens: (query: ListQuery): ListPage => reader.listTokens(query, Date.now()),
    listAudit: (query: ListQuery): ListPage => reader.listAudit(query),
    replayEvents: (query: { table: Table; since: number; filter: EventFilter; limit: number }): ReplayPart =>
      asMessages(
        reader.replayEvents(query.table, query.since, query.filter, query.limit),
        query.table === 'network' ? 'network_event' : 'dns_event',
      ),
    digestEvents: (query: { table: Table; from: number; maxRows: number }) =>
      reader.digestEvents(query.table, query.from, query.maxRows),
    proveEvent: (query: { table: Table; id: string }) => reader.proveEvent(query.table, query.id),
    listScans: (query: ListQuery): ListPage => reader.listScans(query),
    replayScans: (query: { since: number; filter: ListFilter; limit: number }): ReplayPart =>
      asMessages(reader.replayScans(query.since, query.filter, query.limit), 'scan'),
    /** Returns the attributes of the graph as JSON. */
    topology: (query: TopologyQuery): string => JSON.stringify(reader.topology(query)),
    /** Returns the attributes of the dashboard as JSON. */
    dashboard: (query: DashboardQuery): string => JSON.stringify(dashboard(reader, query)),
    trends: (query: WindowQuery): string => JSON.stringify(trends(reader, query)),
    riskScore: (query: { now: number }): RiskScore => riskScore(reader, query),
    riskHistory: (query: WindowQuery & { assetId: string }): RiskHistory | undefined => riskHistory(reader, query),
    replayTopology: (query: TopologyReplay): ReplayPart => replayTopology(reader, query),
    replayAlerts: (query: { since: number; filter: ListFilter; limit: number }): ReplayPart =>
      asMessages(reader.replayAlerts(query.since, query.filter, query.limit), 'alert'),
  };
  const noting = (run: (query: never) => unknown) => (query: never) => {
    reader.damagedRows();
    return withDamagedRows(run(query), reader.damagedRows());
  };
  return Object.fromEntries(Object.entries(all).map(([name, run]) => [name, noting(run)])) as typeof all;
}

export type Queries = ReturnType<typeof queries>;

function asMessages<T>({ events, next, lost }: Replay<T>, type: string): ReplayPart {
  const messages = events.map(({ seq, id, data }) => ({
    seq,
    json: JSON.stringify({ id, type, attributes: data }),
  }));
  return { messages, next, lost };
}
