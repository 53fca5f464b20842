import { numberColumn, timeColumn } from '../../ui/attribute-columns.tsx';
import { title } from '../../ui/format.ts';
import { type Column, column } from '../../ui/table.tsx';
import { Address, AssetName, Value } from '../../ui/values.tsx';
import type { Service, ServiceRow } from './question.ts';
import './columns.css';

/** The state as a symbol and a word. */
export function ServiceState({ state }: { state: Service['state'] }) {
  return (
    <span class={state === 'open' ? 'asset-state' : 'asset-state quiet'}>
      <span aria-hidden="true">{state === 'open' ? '●' : '○'} </span>
      {title(state)}
    </span>
  );
}

export function Port({ service: { port, transport } }: { service: Service }) {
  return (
    <span class="mono">
      {port}
      <span class="quiet">/{transport}</span>
    </span>
  );
}

/** The service name, product and version, if known. */
export function Software({ service: { name, product, version } }: { service: Service }) {
  const software = [product, version].filter((part) => part !== undefined).join(' ');
  if (name === undefined && software === '') return <span class="quiet">unknown</span>;
  return (
    <>
      {name !== undefined && <bdi>{name}</bdi>}
      {software !== '' && (
        <bdi class="quiet" title={software}>
          {name !== undefined && ' '}
          {software}
        </bdi>
      )}
    </>
  );
}

export const serviceColumns: readonly Column<ServiceRow>[] = [
  column('port', 'Port', { width: '76px', sort: 'port' }, ({ attributes: { port, transport } }) => (
    <>
      <Value value={port} list="listServices" field="port" pivot="port" />
      <span class="quiet mono">/{transport}</span>
    </>
  )),
  column('name', 'Service', { width: 'minmax(64px, 1fr)', sort: 'name' }, ({ attributes: { name } }) =>
    name === undefined ? (
      <span class="quiet">unknown</span>
    ) : (
      <Value value={name} list="listServices" field="name" mono={false} />
    ),
  ),
  column(
    'product',
    'Software',
    { width: 'minmax(80px, 1fr)', from: 740, sort: 'product' },
    ({ attributes: { product, version } }) =>
      product === undefined ? (
        version !== undefined && <bdi title={version}>{version}</bdi>
      ) : (
        <bdi title={`${product} ${version ?? ''}`}>
          {product} <span class="quiet">{version}</span>
        </bdi>
      ),
  ),
  column('asset', 'Asset', { width: 'minmax(88px, 1.2fr)' }, ({ attributes: { asset_id } }) => (
    <AssetName id={asset_id} link />
  )),
  column('ip', 'Address', { width: '124px', from: 640, sort: 'ip' }, ({ attributes: { ip } }) => (
    <Address ip={ip} list="listServices" />
  )),
  numberColumn('clients', 'Clients', 'clients', { width: '60px', from: 500 }),
  numberColumn('connections', 'Connections', 'connections', { width: '84px', from: 920 }),
  column('state', 'State', { width: '72px', from: 820, sort: 'state' }, ({ attributes: { state } }) => (
    <ServiceState state={state} />
  )),
  column('source', 'Found by', { width: '68px', from: 1000, sort: 'source' }, ({ attributes: { source } }) =>
    source === 'scan' ? 'Scan' : 'Events',
  ),
  timeColumn('first', 'First seen', 'first_seen', { width: '80px', from: 1090 }),
  timeColumn('seen', 'Last seen', 'last_seen', { width: '76px' }),
];
