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
import { Button, Choice } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Split } from '../../ui/split.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { alertedEdges, leastMarked } from './alerted.ts';
import { boxesOf, boxId, placesOf } from './arrange.ts';
import { EdgeTable } from './edge-table.tsx';
import { Graph } from './graph.tsx';
import { Legend } from './legend.tsx';
import { linesOf } from './lines.ts';
import { useLiveGraph } from './live-graph.ts';
import { NodeDetail } from './node-detail.tsx';
import { useStillRange } from './still-range.ts';
import { maxFresh } from './updates.ts';
import './topology.css';

const limits = [100, 200, 500, 1000, 2000] as const;
const depths = ['1', '2', '3'] as const;

/** Edges are marked for so many open alerts at most, the gravest. */
const maxAlerts = 1000;
/** How often these are asked for where the graph is live. */
const alertsMs = 15_000;
const none: readonly never[] = [];

/** Who talks to whom: the busiest, by network, as a picture and as a table. */
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
        min_severity: leastMarked,
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
            label="Show as"
            value={params.get('view') === 'table' ? 'table' : 'graph'}
            options={[
              { value: 'graph', title: 'Picture' },
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
            label="Lines between"
            value={params.get('lines') === 'all' ? 'all' : 'networks'}
            options={[
              { value: 'networks', title: 'Lines of networks' },
              { value: 'all', title: 'All lines' },
            ]}
            onChange={(lines) => setParams({ lines: lines === 'all' ? lines : undefined })}
          />
          <label class="row">
            <span class="quiet">at most</span>
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
                label="Edges from the focus"
                value={String(depth)}
                options={depths.map((value) => ({
                  value,
                  title: `${value} ${value === '1' ? 'step' : 'steps'}`,
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
              Ask again
            </Button>
          )}
        </div>
      }
    >
      <Answered of={answer} rows={14}>
        {({ data }) => (
          <Shown
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

/** What is left out of the marks for alerts, or why they are old. */
function noteOn({ data, error }: UseQueryResult<CallResult<'listAlerts'>, ServiceError>): string {
  if (error !== null) return ` · alerts could not be asked for: ${error.message}`;
  if (data === undefined || data.pagination.total <= data.data.length) return '';
  return ` (of the ${number(data.data.length)} gravest of ${number(data.pagination.total)})`;
}

function Shown({
  snapshot,
  alerts,
  alertsNote,
  isLive,
  groupBy,
  limit,
}: {
  snapshot: Topology;
  alerts: readonly ListItem<'listAlerts'>[];
  /** What is not true of the marks for alerts. */
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
      <Empty title="Nobody talked to anybody in this time.">
        The graph is made of network events. <a href={href('topology', { range: 'all' })}>Look at all time</a>
        .
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
        {number(graph.nodes.length)} nodes, {number(graph.edges.length)} edges
        {graph.truncated && ' · the busiest: a limit left others out'}
        {isLive ? (
          ' · live'
        ) : (
          <>
            {' · as of '}
            <Time at={graph.generated_at} as="exact" />; the whole network of all time is live
          </>
        )}
        {alerted.size > 0 &&
          ` · open alerts, ${leastMarked} and above, on ${number(alerted.size)} ${alerted.size === 1 ? 'edge' : 'edges'}`}
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
