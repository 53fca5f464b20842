import type { UseQueryResult } from '@tanstack/preact-query';
import { useMemo, useState } from 'preact/hooks';
import type { CallResult, ListItem } from '../../../client/client.ts';
import type { Topology } from '../../../contract/resources/topology.ts';
import { openAlertStatuses } from '../../../contract/vocabulary.ts';
import type { ServiceError } from '../../../errors.ts';
import { href, place, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { shownRange } from '../../state/range.ts';
import { may } from '../../state/session.ts';
import { useStillRange } from '../../state/still-range.ts';
import { Button, Choice } from '../../ui/button.tsx';
import { Split } from '../../ui/detail.tsx';
import { counted, number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { alertedEdges, minMarkedSeverity } from './alerted.ts';
import { boxesOf, boxId, placesOf } from './arrange.ts';
import { EdgeTable } from './edge-table.tsx';
import { Graph } from './graph.tsx';
import { Legend } from './legend.tsx';
import { linesOf } from './lines.ts';
import { useLiveGraph } from './live-graph.ts';
import { NodeDetail } from './node-detail.tsx';
import { maxFresh } from './updates.ts';
import './topology.css';

const limits = [100, 200, 500, 1000, 2000] as const;
const depths = ['1', '2', '3'] as const;

/** Maximum number of open alerts marked on edges, most severe first. */
const maxAlerts = 1000;
/** Refresh interval of alerts while the graph is live, in milliseconds. */
const alertsMs = 15_000;
const none: readonly never[] = [];

/** The busiest connections between hosts or networks, as a graph and as a table. */
export default function TopologyPage() {
  const { params } = place.value;
  const { range, move } = useStillRange();
  const groupBy = params.get('group_by') === 'subnet' ? 'subnet' : 'host';
  const limit = limits.find((one) => String(one) === params.get('limit')) ?? 500;
  const focus = params.get('focus') ?? undefined;
  const depth = Number(depths.find((one) => one === params.get('depth')) ?? '1');
  const isLive = shownRange().name === 'all' && focus === undefined;
  const query = { ...range, group_by: groupBy, limit, ...(focus !== undefined && { focus, depth }) };
  const answer = useAnswer('getTopology', { query: query as never }, { still: true });
  const mayListAlerts = may('listAlerts');
  const alerts = useAnswer(
    'listAlerts',
    {
      query: {
        ...range,
        status: openAlertStatuses,
        min_severity: minMarkedSeverity,
        sort: '-severity',
        per_page: maxAlerts,
      } as never,
    },
    { enabled: mayListAlerts, ...(isLive ? { refreshMs: alertsMs } : { still: true }) },
  );
  return (
    <Page
      title="Topology"
      range="any"
      bar={
        <div class="row">
          <Choice
            label="View"
            value={params.get('view') === 'table' ? 'table' : 'graph'}
            options={[
              { value: 'graph', title: 'Graph' },
              { value: 'table', title: 'Table' },
            ]}
            onChange={(view) => setParams({ view: view === 'graph' ? undefined : view })}
          />
          <Choice
            label="Group by"
            value={groupBy}
            options={[
              { value: 'host', title: 'Hosts' },
              { value: 'subnet', title: 'Networks' },
            ]}
            onChange={(by) => setParams({ group_by: by === 'host' ? undefined : by, id: undefined })}
          />
          <Choice
            label="Edges"
            value={params.get('lines') === 'all' ? 'all' : 'networks'}
            options={[
              { value: 'networks', title: 'Network edges' },
              { value: 'all', title: 'All edges' },
            ]}
            onChange={(lines) => setParams({ lines: lines === 'all' ? lines : undefined })}
          />
          <label class="row">
            <span class="quiet">Limit</span>
            <select
              class="input"
              value={String(limit)}
              onChange={(event) => setParams({ limit: event.currentTarget.value })}
            >
              {limits.map((one) => (
                <option key={one} value={one}>
                  {number(one)} nodes
                </option>
              ))}
            </select>
          </label>
          {focus !== undefined && (
            <>
              <Choice
                label="Depth"
                value={String(depth)}
                options={depths.map((value) => ({
                  value,
                  title: `${value} ${value === '1' ? 'hop' : 'hops'}`,
                }))}
                onChange={(value) => setParams({ depth: value === '1' ? undefined : value })}
              />
              <Button onClick={() => setParams({ focus: undefined, depth: undefined })}>Whole network</Button>
            </>
          )}
          {!isLive && (
            <Button
              onClick={() => {
                if (move()) return;
                void answer.refetch();
                if (mayListAlerts) void alerts.refetch();
              }}
            >
              Refresh
            </Button>
          )}
        </div>
      }
    >
      <Answered of={answer} rows={14}>
        {({ data }) => (
          <LoadedTopology
            key={`${groupBy} ${focus}`}
            snapshot={data.attributes}
            alerts={(mayListAlerts ? alerts.data?.data : undefined) ?? none}
            alertsNote={mayListAlerts ? noteOn(alerts) : ''}
            isLive={isLive && !answer.isPlaceholderData}
            groupBy={groupBy}
            limit={limit}
          />
        )}
      </Answered>
    </Page>
  );
}

/** Explains which alerts are not marked, or why the marks may be out of date. */
function noteOn({ data, error }: UseQueryResult<CallResult<'listAlerts'>, ServiceError>): string {
  if (error !== null) return ` · alerts unavailable: ${error.message}`;
  if (data === undefined || data.pagination.total <= data.data.length) return '';
  return ` (${number(data.data.length)} most severe of ${number(data.pagination.total)})`;
}

function LoadedTopology({
  snapshot,
  alerts,
  alertsNote,
  isLive,
  groupBy,
  limit,
}: {
  snapshot: Topology;
  alerts: readonly ListItem<'listAlerts'>[];
  /** A caveat on the marked alerts; empty without a caveat. */
  alertsNote: string;
  isLive: boolean;
  groupBy: 'host' | 'subnet';
  limit: number;
}) {
  const { params } = place.value;
  const selected = params.get('id') ?? undefined;
  const { graph, fresh } = useLiveGraph(snapshot, { isLive, groupBy, limit });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const boxes = useMemo(() => boxesOf(graph.nodes, opened), [graph.nodes, opened]);
  const places = useMemo(() => placesOf(boxes), [boxes]);
  const all = params.get('lines') === 'all';
  const alerted = useMemo(
    () =>
      alertedEdges(
        graph,
        alerts.map(({ attributes }) => attributes),
      ),
    [graph.nodes, graph.edges, alerts],
  );
  const bundles = useMemo(
    () => linesOf(graph.edges, boxes, selected, all, alerted),
    [graph.edges, boxes, selected, all, alerted],
  );
  const select = (id: string | undefined) => setParams({ id: id?.replace(/^box /, '') }, { replace: true });
  const toggle = (network: string) =>
    setOpened((before) => {
      const next = new Set(before);
      if (!next.delete(network)) next.add(network);
      return next;
    });

  if (graph.nodes.length === 0)
    return (
      <Empty title="No connections in this range">
        The graph shows network events. <a href={href('topology', { range: 'all' })}>Search all time</a>
      </Empty>
    );
  const node = graph.nodes.find(({ id }) => id === selected);
  const box = boxes.find(({ id }) => id === selected);
  return (
    <Split
      detail={
        (node !== undefined || box !== undefined) && (
          <NodeDetail
            graph={graph}
            alerted={alerted}
            node={node}
            box={box}
            onToggle={toggle}
            onClose={() => select(undefined)}
          />
        )
      }
    >
      <p class="counted quiet" role="status">
        {counted(graph.nodes.length, 'node')}, {counted(graph.edges.length, 'edge')}
        {graph.truncated && ' · busiest only, limit reached'}
        {isLive ? (
          ' · live'
        ) : (
          <>
            {' · as of '}
            <Time at={graph.generated_at} as="exact" /> (live only if the whole network and all time are shown)
          </>
        )}
        {alerted.size > 0 && ` · open alerts, ${minMarkedSeverity} and above, on ${counted(alerted.size, 'edge')}`}
        {alertsNote}
        {fresh.size > 0 && ` · ${number(fresh.size)}${fresh.size < maxFresh ? '' : ' or more'} new`}
      </p>
      {params.get('view') === 'table' ? (
        <EdgeTable graph={graph} alerted={alerted} selected={selected} onSelect={select} />
      ) : (
        <>
          <Graph
            boxes={boxes}
            places={places}
            bundles={bundles}
            selected={box === undefined || !box.isOpen || box.nodes.length === 1 ? selected : boxId(box.id)}
            onSelect={select}
            onToggle={toggle}
            fresh={fresh}
          />
          <Legend />
        </>
      )}
    </Split>
  );
}
