import { useEffect } from 'preact/hooks';
import type { ServiceError } from '../../../errors.ts';
import { href, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { number, title } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Raw } from '../../ui/raw.tsx';
import { Risk } from '../../ui/severity.tsx';
import { Detail } from '../../ui/split.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { SingleActions } from './actions.tsx';
import { AssetAlerts } from './alerts-section.tsx';
import { putAssets } from './cache.ts';
import { Criticality, State } from './columns.tsx';
import { History } from './history-section.tsx';
import { Identity } from './identity-section.tsx';
import { NamesAsked } from './names-section.tsx';
import { Peers } from './peers-section.tsx';
import type { AssetRow } from './question.ts';
import { AssetRisk } from './risk-section.tsx';
import { AssetServices } from './services-section.tsx';
import { Traffic } from './traffic-section.tsx';
import { WindowChoice } from './window.tsx';
import './detail.css';

const refreshMs = 30_000;

/** The asset that the address names: at once as the list has it, and as it is now when that is there. */
export function OpenedAsset({
  id,
  listed,
  actions,
}: {
  id: string;
  listed: AssetRow | undefined;
  actions: SingleActions;
}) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { keepPrevious: false, refreshMs });
  const asset = answer.data?.data ?? listed;
  const isNewer =
    listed !== undefined && asset !== undefined && asset.attributes.version > listed.attributes.version;
  // What is done by keys to the row of the list is done to what is read here.
  useEffect(() => {
    if (isNewer) putAssets(new Map([[asset.id, asset]]));
  }, [isNewer, asset]);
  if (answer.error !== null && (asset === undefined || answer.error.code === 'NOT_FOUND'))
    return <MissingAsset id={id} error={answer.error} onRetry={() => void answer.refetch()} />;
  if (asset === undefined)
    return (
      <Detail title="An asset" onClose={close}>
        <Loading rows={8} />
      </Detail>
    );
  return <AssetDetail asset={asset} isListed={listed !== undefined} actions={actions} />;
}

const close = () => setParams({ id: undefined });

function MissingAsset({ id, error, onRetry }: { id: string; error: ServiceError; onRetry: () => void }) {
  const into = error.details?.merged_into;
  const isUnknown = error.code === 'NOT_FOUND' || error.code === 'INVALID_REQUEST';
  return (
    <Detail title={isUnknown ? 'No such asset' : 'An asset'} onClose={close}>
      {typeof into === 'string' ? (
        <Empty title="It was merged into another asset.">
          <a href={href('assets', { id: into })}>That asset</a>
        </Empty>
      ) : isUnknown ? (
        <Empty title="The address names an asset that is not here.">
          <p>
            It was deleted, or it is of another service: <bdi class="mono">{id}</bdi>
          </p>
        </Empty>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </Detail>
  );
}

/** All that is known of one asset: who it is, whether it is well, and what it does. */
function AssetDetail({
  asset,
  isListed,
  actions,
}: {
  asset: AssetRow;
  isListed: boolean;
  actions: SingleActions;
}) {
  const { attributes } = asset;
  return (
    <Detail
      title={<bdi>{attributes.name}</bdi>}
      onClose={close}
      actions={<AssetActions asset={asset} actions={actions} />}
    >
      {!isListed && <OwnKeys asset={asset} actions={actions} />}
      <p class="row asset-standing">
        <State state={attributes.state} />
        {attributes.risk_score === 0 ? (
          <span class="quiet">No risk</span>
        ) : (
          <Risk level={attributes.risk_level} score={attributes.risk_score} />
        )}
        <span title="How much it matters">
          <Criticality level={attributes.criticality} /> <span class="quiet">criticality</span>
        </span>
        <span class="quiet">
          {attributes.last_seen === undefined ? (
            'never seen'
          ) : (
            <>
              seen <Time at={attributes.last_seen} />
            </>
          )}
        </span>
      </p>
      {attributes.state === 'staged' && (
        <p class="quiet asset-said">
          {attributes.source === 'scan' ? 'A scan found it' : 'The network showed it'}; nobody has said yet
          whether it belongs here{may('updateAsset') && ' (m)'}.
        </p>
      )}
      <Identity asset={asset} />
      <AssetRisk asset={asset} />
      <WindowChoice says="What it did in the last" />
      <AssetAlerts asset={asset} />
      <Traffic asset={asset} />
      <Peers asset={asset} />
      <NamesAsked asset={asset} />
      <AssetServices asset={asset} />
      <History asset={asset} />
      <Raw of={asset} />
    </Detail>
  );
}

/** Of an asset that is not in the list beside it, whose keys the list has not. */
function OwnKeys({ asset, actions }: { asset: AssetRow; actions: SingleActions }) {
  useKeys('Asset', {
    ...(may('updateAsset') && {
      e: { title: 'Edit the asset', run: () => actions.edit(asset) },
      m: { title: 'Managed: it belongs here', run: () => actions.manage(asset) },
    }),
  });
  return null;
}

function AssetActions({ asset, actions }: { asset: AssetRow; actions: SingleActions }) {
  const { id, attributes } = asset;
  const { state } = attributes;
  const changes = [
    ...(may('updateAsset') && state !== 'retired'
      ? [{ title: 'Retire: out of use', run: () => actions.retire(asset) }]
      : []),
    ...(may('mergeAsset') ? [{ title: 'Merge into another …', run: () => actions.merge(asset) }] : []),
    ...(may('splitAsset') ? [{ title: 'Split …', run: () => actions.split(asset) }] : []),
    ...(may('deleteAsset') ? [{ title: 'Delete …', run: () => actions.remove(asset) }] : []),
  ];
  return (
    <>
      {may('updateAsset') && (
        <>
          {state !== 'managed' && (
            <Button kind="primary" hint="m" onClick={() => actions.manage(asset)}>
              {state === 'staged' ? 'Manage' : 'Manage again'}
            </Button>
          )}
          <Button hint="e" onClick={() => actions.edit(asset)}>
            Edit
          </Button>
        </>
      )}
      <Menu
        class="button"
        label={`More about ${title(attributes.name)}`}
        items={() => [
          {
            title: `Its alerts (${number(attributes.open_alerts)} open)`,
            href: href('alerts', { range: 'all', view: 'all', asset_id: id }),
          },
          { title: 'Its network events', href: href('events', { asset_id: id }) },
          { title: 'Its DNS events', href: href('events', { table: 'dns', asset_id: id }) },
          { title: 'Its place in the topology', href: href('topology', { focus: id }) },
          ...(may('startScan') && attributes.ip_addresses.length > 0
            ? [
                {
                  title: 'Scan it',
                  href: href('discovery', { new: 1, targets: attributes.ip_addresses.join(',') }),
                },
              ]
            : []),
          ...(changes.length > 0 ? ['line' as const, ...changes] : []),
        ]}
      >
        More ▾
      </Menu>
    </>
  );
}
