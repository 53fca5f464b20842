import { useMemo } from 'preact/hooks';
import { go, href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Chart } from '../../ui/chart.tsx';
import { AbsentItem, Detail, Facts, Raw, Section } from '../../ui/detail.tsx';
import { counted, duration, number } from '../../ui/format.ts';
import { countBars, timesOf } from '../../ui/histogram-bars.ts';
import { Answered } from '../../ui/states.tsx';
import { Address, AssetName, Time, Value } from '../../ui/values.tsx';
import { CountedValues } from './counted-values.tsx';
import type { Service, ServiceRow } from './question.ts';
import { ServiceState } from './service-columns.tsx';
import { shownWindow, WindowChoice, windowStart } from './window.tsx';

const maxBars = 48;
const shownClients = 8;

/** The service in the URL. */
export function OpenedService({ id, listed }: { id: string; listed: ServiceRow | undefined }) {
  const answer = useAnswer('getService', { params: { service_id: id } }, { keepPrevious: false });
  const service = answer.data?.data ?? listed;
  if (service !== undefined) return <ServiceDetail service={service} />;
  return (
    <AbsentItem of="service" error={answer.error} onRetry={() => void answer.refetch()}>
      Its asset may have been deleted. Service ID: <bdi class="mono">{id}</bdi>
    </AbsentItem>
  );
}

function ServiceDetail({ service: { attributes, ...service } }: { service: ServiceRow }) {
  const { asset_id, ip, port, transport, name, product, version, state, source } = attributes;
  const value = (field: string, text: string | undefined) =>
    text === undefined ? undefined : <Value value={text} list="listServices" field={field} mono={false} />;
  return (
    <Detail
      title={
        <>
          {port}/{transport} {name !== undefined && <bdi>{name}</bdi>} on <AssetName id={asset_id} link />
        </>
      }
    >
      <Facts
        facts={[
          ['State', <ServiceState key="state" state={state} />],
          ['Listens on', <Address key="ip" ip={ip} port={port} list="listServices" />],
          ['Asset', <AssetName key="asset" id={asset_id} link />],
          ['Protocol', value('name', name)],
          ['Software', value('product', product)],
          ['Version', value('version', version)],
          ['Clients', number(attributes.clients)],
          ['Connections', number(attributes.connections)],
          ['Found by', source === 'scan' ? 'scan' : 'events'],
          ['First seen', <Time key="first" at={attributes.first_seen} />],
          ['Last seen', <Time key="last" at={attributes.last_seen} />],
        ]}
      />
      <WindowChoice label="Activity in the last" />
      <Connections service={attributes} />
      <Clients service={attributes} />
      <Raw of={{ ...service, attributes }} />
    </Detail>
  );
}

const filtersOf = ({ ip, port, transport }: Service) => ({
  dst_ip: [ip],
  dst_port: [port],
  transport: [transport],
});

function Connections({ service }: { service: Service }) {
  const window = shownWindow();
  const filters = filtersOf(service);
  const answer = useAnswer('getNetworkEventHistogram', {
    query: { ...filters, from: windowStart(window), buckets: maxBars } as never,
  });
  const shown = answer.data?.data.attributes;
  const series = useMemo(() => shown && [countBars('Connections', '--series-2', shown)], [shown]);
  return (
    <Section title="Connections">
      <Answered of={answer} rows={3}>
        {({ data: { attributes } }) =>
          attributes.total === 0 ? (
            <p class="quiet">No connections in this range.</p>
          ) : (
            <>
              <Chart
                label={`${counted(attributes.total, 'connection')} over time, in steps of ${duration(attributes.bucket_ms)}`}
                times={timesOf(attributes)}
                series={series ?? []}
                kind="bars"
                height={96}
                onZoom={(start, end) =>
                  go(
                    href('events', {
                      ...filters,
                      from: new Date(Math.floor(start)).toISOString(),
                      to: new Date(Math.ceil(end)).toISOString(),
                    }),
                  )
                }
              />
              <p>
                <a href={href('events', { ...filters, range: window === '24h' ? undefined : window })}>
                  {counted(attributes.total, 'event')}
                </a>
              </p>
            </>
          )
        }
      </Answered>
    </Section>
  );
}

function Clients({ service }: { service: Service }) {
  const answer = useAnswer('getNetworkEventValues', {
    query: {
      ...filtersOf(service),
      by: 'src_ip',
      limit: shownClients,
      from: windowStart(shownWindow()),
    } as never,
  });
  return (
    <Section title="Top clients">
      <Answered of={answer} rows={3}>
        {({ data: { attributes } }) =>
          attributes.values.length === 0 ? (
            <p class="quiet">No clients in this range.</p>
          ) : (
            <>
              <CountedValues values={attributes.values} shown={(value) => <Address ip={value} />} />
              {attributes.distinct > attributes.values.length && (
                <p class="quiet">{number(attributes.distinct)} addresses in total</p>
              )}
            </>
          )
        }
      </Answered>
    </Section>
  );
}
