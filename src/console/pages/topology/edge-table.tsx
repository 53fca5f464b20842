import { useMemo, useState } from 'preact/hooks';
import type { Topology } from '../../../contract/resources/topology.ts';
import { bytes, number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { type AlertedEdges, alertRank } from './alerted.ts';
import { AlertedMark } from './alerted-mark.tsx';
import { type Edge, edgeId } from './arrange.ts';

const orders: Readonly<Record<string, (edge: Edge, alerted: AlertedEdges) => number | string>> = {
  source: ({ source }) => source,
  target: ({ target }) => target,
  connections: ({ connections }) => connections,
  bytes: ({ bytes: size }) => size,
  first_seen: ({ first_seen }) => first_seen,
  last_seen: ({ last_seen }) => last_seen,
  alerts: (edge, alerted) => alertRank(alerted.get(edgeId(edge))),
};

const columnsWith = (alerted: AlertedEdges): readonly Column<Edge>[] => [
  column('source', 'Source', { width: 'minmax(100px, 1fr)', sort: 'source' }, ({ source }) => (
    <bdi class="mono">{source}</bdi>
  )),
  column('target', 'Destination', { width: 'minmax(100px, 1fr)', sort: 'target' }, ({ target }) => (
    <bdi class="mono">{target}</bdi>
  )),
  column('ports', 'Ports', { width: '120px', from: 620 }, ({ ports }) => <span class="mono">{ports.join(', ')}</span>),
  column('protocols', 'Protocols', { width: '110px', from: 760 }, ({ protocols }) => <bdi>{protocols.join(', ')}</bdi>),
  column(
    'connections',
    'Connections',
    { width: '90px', end: true, from: 520, sort: 'connections' },
    ({ connections }) => number(connections),
  ),
  column('bytes', 'Bytes', { width: '80px', end: true, from: 430, sort: 'bytes' }, (edge) => bytes(edge.bytes)),
  column('alerts', 'Open alerts', { width: '92px', sort: 'alerts' }, (edge) => (
    <AlertedMark edge={edge} alerted={alerted.get(edgeId(edge))} />
  )),
  column('last_seen', 'Last seen', { width: '84px', end: true, from: 680, sort: 'last_seen' }, ({ last_seen }) => (
    <Time at={last_seen} />
  )),
];

/** The edges of the graph or, while a node is selected, of this node, as a table. */
export function EdgeTable({
  graph,
  alerted,
  selected,
  onSelect,
}: {
  graph: Topology;
  alerted: AlertedEdges;
  selected: string | undefined;
  onSelect: (id: string) => void;
}) {
  const [sort, setSort] = useState('-bytes');
  const rows = useMemo(() => {
    const shown =
      selected === undefined
        ? graph.edges
        : graph.edges.filter(({ source, target }) => source === selected || target === selected);
    const of = orders[sort.replace(/^-/, '')]!;
    const sign = sort.startsWith('-') ? -1 : 1;
    return shown.toSorted((a, b) => {
      const [x, y] = [of(a, alerted), of(b, alerted)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }, [graph.edges, alerted, selected, sort]);
  const columns = useMemo(() => columnsWith(alerted), [alerted]);
  return (
    <Table
      label="Edges"
      list={{ rows, total: rows.length }}
      columns={columns}
      keyOf={edgeId}
      onOpen={({ source }) => onSelect(source)}
      sort={sort}
      onSort={setSort}
      empty={<Empty title="No edges between the nodes shown" />}
    />
  );
}
