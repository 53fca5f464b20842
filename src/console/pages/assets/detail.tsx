import { useEffect } from 'preact/hooks';
import type { ServiceError } from '../../../errors.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { AbsentItem, Detail, Raw } from '../../ui/detail.tsx';
import { number, title } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { Risk, Time } from '../../ui/values.tsx';
import type { SingleActions } from './actions.tsx';
import { AssetAlerts } from './alerts-section.tsx';
import { putAssets } from './cache.ts';
import { Criticality, State } from './columns.tsx';
import { History } from './history-section.tsx';
import { Identity } from './identity-section.tsx';
import { QueriedDomains } from './names-section.tsx';
import { Peers } from './peers-section.tsx';
import type { AssetRow } from './question.ts';
import { AssetRisk } from './risk-section.tsx';
import { AssetServices } from './services-section.tsx';
import { Traffic } from './traffic-section.tsx';
import { WindowChoice } from './window.tsx';
import './detail.css';

const refreshMs = 30_000;

/** The asset in the URL: the version in the list first, then the current version once it is loaded. */
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
  const isNewer = listed !== undefined && asset !== undefined && asset.attributes.version > listed.attributes.version;
  // Shortcut keys act on the row in the list, so the row needs the version that is shown here.
  useEffect(() => {
    if (isNewer) putAssets(new Map([[asset.id, asset]]));
  }, [isNewer, asset]);
  if (asset === undefined || answer.error?.code === 'NOT_FOUND')
    return <AbsentAsset id={id} error={answer.error} onRetry={() => void answer.refetch()} />;
  return <AssetDetail asset={asset} isListed={listed !== undefined} actions={actions} />;
}

function AbsentAsset({ id, error, onRetry }: { id: string; error: ServiceError | null; onRetry: () => void }) {
  const into = error?.details?.merged_into;
  if (typeof into === 'string')
    return (
      <Detail title="Asset not found">
        <Empty title="This asset was merged into another one">
          <a href={href('assets', { id: into })}>Show that asset</a>
        </Empty>
      </Detail>
    );
  return (
    <AbsentItem of="asset" error={error} onRetry={onRetry}>
      It may have been deleted, or the link may be for another server. ID: <bdi class="mono">{id}</bdi>
    </AbsentItem>
  );
}

/** One asset: its identity, risk and activity. */
function AssetDetail({ asset, isListed, actions }: { asset: AssetRow; isListed: boolean; actions: SingleActions }) {
  const { attributes } = asset;
  return (
    <Detail title={<bdi>{attributes.name}</bdi>} actions={<AssetActions asset={asset} actions={actions} />}>
      {!isListed && <OwnKeys asset={asset} actions={actions} />}
      <p class="row asset-standing">
        <State state={attributes.state} />
        {attributes.risk_score === 0 ? (
          <span class="quiet">No risk</span>
        ) : (
          <Risk level={attributes.risk_level} score={attributes.risk_score} />
        )}
        <span title="Importance of the asset, used for its risk score">
          <Criticality level={attributes.criticality} /> <span class="quiet">criticality</span>
        </span>
        <span class="quiet">
          {attributes.last_seen === undefined ? (
            'never seen'
          ) : (
            <>
              last seen <Time at={attributes.last_seen} />
            </>
          )}
        </span>
      </p>
      {attributes.state === 'staged' && (
        <p class="quiet asset-said">
          Discovered {attributes.source === 'scan' ? 'by a scan' : 'in network events'}, not reviewed yet.
          {may('updateAsset') && ' Press m if it belongs here.'}
        </p>
      )}
      <Identity asset={asset} />
      <AssetRisk asset={asset} />
      <WindowChoice label="Activity in the last" />
      <AssetAlerts asset={asset} />
      <Traffic asset={asset} />
      <Peers asset={asset} />
      <QueriedDomains asset={asset} />
      <AssetServices asset={asset} />
      <History asset={asset} />
      <Raw of={asset} />
    </Detail>
  );
}

/** Shortcut keys for an open asset that is not in the list. */
function OwnKeys({ asset, actions }: { asset: AssetRow; actions: SingleActions }) {
  useKeys('Asset', {
    ...(may('updateAsset') && {
      e: { title: 'Edit asset', run: () => actions.edit(asset) },
      m: { title: 'Mark as managed', run: () => actions.manage(asset) },
    }),
  });
  return null;
}

function AssetActions({ asset, actions }: { asset: AssetRow; actions: SingleActions }) {
  const { id, attributes } = asset;
  const { state } = attributes;
  const changes = [
    ...(may('updateAsset') && state !== 'retired' ? [{ title: 'Retire', run: () => actions.retire(asset) }] : []),
    ...(may('mergeAsset') ? [{ title: 'Merge into another asset…', run: () => actions.merge(asset) }] : []),
    ...(may('splitAsset') ? [{ title: 'Split…', run: () => actions.split(asset) }] : []),
    ...(may('deleteAsset') ? [{ title: 'Delete…', run: () => actions.remove(asset) }] : []),
  ];
  return (
    <>
      {may('updateAsset') && (
        <>
          {state !== 'managed' && (
            <Button kind="primary" hint="m" onClick={() => actions.manage(asset)}>
              {state === 'staged' ? 'Manage' : 'Reactivate'}
            </Button>
          )}
          <Button hint="e" onClick={() => actions.edit(asset)}>
            Edit
          </Button>
        </>
      )}
      <Menu
        class="button"
        label={`More actions for ${title(attributes.name)}`}
        items={() => [
          {
            title: `Alerts (${number(attributes.open_alerts)} open)`,
            href: href('alerts', { range: 'all', view: 'all', asset_id: id }),
          },
          { title: 'Network events', href: href('events', { asset_id: id }) },
          { title: 'DNS events', href: href('events', { table: 'dns', asset_id: id }) },
          { title: 'Show in topology', href: href('topology', { focus: id }) },
          ...(may('startScan') && attributes.ip_addresses.length > 0
            ? [
                {
                  title: 'Scan',
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
