import type { CallResult } from '../../../client/client.ts';
import { href, type Params } from '../../state/address.ts';
import { bytes, number } from '../../ui/format.ts';
import { Answered, type Asked, Empty } from '../../ui/states.tsx';
import { type PivotKind, Value } from '../../ui/values.tsx';

type Attributes = CallResult<'getDashboard'>['data']['attributes'];
type Top = Attributes['top_talkers'];

interface List {
  readonly title: string;
  readonly rows: (attributes: Attributes) => Top;
  readonly by: 'events' | 'bytes';
  readonly pivot?: PivotKind;
  /** URL parameters of the events behind a row. */
  readonly filter: (key: string) => Params;
}

const bySource = (key: string): Params => ({ src_ip: key });
const byDestination = (key: string): Params => ({ dst_ip: key });
/** Returns the filter of a service such as `tcp/443`. */
function byService(key: string): Params {
  const [transport = '', port] = key.split('/');
  return { transport, dst_port: port };
}

const lists: readonly List[] = [
  { title: 'Top talkers', rows: (of) => of.top_talkers, by: 'events', pivot: 'address', filter: bySource },
  {
    title: 'Top talkers by bytes',
    rows: (of) => of.top_talkers_by_bytes,
    by: 'bytes',
    pivot: 'address',
    filter: bySource,
  },
  {
    title: 'Top destinations',
    rows: (of) => of.top_destinations,
    by: 'events',
    pivot: 'address',
    filter: byDestination,
  },
  {
    title: 'Top destinations by bytes',
    rows: (of) => of.top_destinations_by_bytes,
    by: 'bytes',
    pivot: 'address',
    filter: byDestination,
  },
  { title: 'Top services', rows: (of) => of.top_services, by: 'events', filter: byService },
  { title: 'Top services by bytes', rows: (of) => of.top_services_by_bytes, by: 'bytes', filter: byService },
  {
    title: 'Top domains',
    rows: (of) => of.top_domains,
    by: 'events',
    pivot: 'domain',
    filter: (key) => ({ table: 'dns', registered_domain: key }),
  },
];

/** Top talkers, destinations, services and domains. */
export function TopLists({ dashboard }: { dashboard: Asked<CallResult<'getDashboard'>> }) {
  return (
    <Answered of={dashboard} rows={8}>
      {({ data: { attributes } }) => lists.map((list) => <TopList key={list.title} list={list} of={attributes} />)}
    </Answered>
  );
}

function TopList({ list, of }: { list: List; of: Attributes }) {
  const rows = list.rows(of);
  const amount = (row: Top[number]): number => (list.by === 'bytes' ? (row.bytes ?? 0) : row.events);
  const write = list.by === 'bytes' ? bytes : number;
  const most = Math.max(1, ...rows.map(amount));
  return (
    <section class="panel overview-top" aria-label={list.title}>
      <h2>{list.title}</h2>
      {rows.length === 0 ? (
        <Empty title="No events in this range" />
      ) : (
        <ol class="overview-bars">
          {rows.map((row) => {
            const error = list.by === 'bytes' ? (row.bytes_error ?? 0) : row.error;
            return (
              <li key={row.key}>
                <span class="clip">
                  <Value value={row.key} {...(list.pivot && { pivot: list.pivot })} />
                </span>
                <meter class="overview-meter" min={0} max={most} value={amount(row)} aria-label={row.key} />
                <a
                  class="number"
                  href={href('events', { from: of.from, ...list.filter(row.key) })}
                  title={error === 0 ? 'exact' : `overestimated by at most ${write(error)}`}
                >
                  {error > 0 && '≤ '}
                  {write(amount(row))}
                </a>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
