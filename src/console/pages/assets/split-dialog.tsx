import { useState } from 'preact/hooks';
import { api } from '../../state/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Options } from '../../ui/form.tsx';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { asSeen, conflict } from './act.ts';
import { assetsMoved } from './cache.ts';
import type { AssetRow } from './question.ts';

/** Dialog to split an asset: the user selects the addresses of the new asset. */
export function SplitDialog({
  asset,
  onDone,
  onClose,
}: {
  asset: AssetRow;
  onDone: (id: string) => void;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { name, ip_addresses, mac_addresses } = asset.attributes;
  const all = [...ip_addresses, ...mac_addresses];
  const isAll = chosen.size === all.length;
  const toggle = (one: string) => {
    const next = new Set(chosen);
    if (!next.delete(one)) next.add(one);
    setChosen(next);
  };
  const split = async () => {
    const { data } = await api.call('splitAsset', { ...asSeen(asset), body: { identifiers: [...chosen] } });
    say(`${quoted(data.attributes.name)} split off as a new asset.`);
    onDone(data.id);
    void assetsMoved();
  };
  const choice = (one: string) => (
    <label key={one}>
      <input type="checkbox" checked={chosen.has(one)} onChange={() => toggle(one)} />
      <bdi class="mono">{one}</bdi>
    </label>
  );
  return (
    <ActionDialog
      title={`Split ${quoted(name)}`}
      action={chosen.size > 0 ? `Split off ${chosen.size}` : 'Split off'}
      danger
      disabled={chosen.size === 0 || isAll}
      conflict={conflict}
      run={split}
      onClose={onClose}
    >
      <p>
        Use this if the asset is actually two machines. The selected addresses will move to a new asset with their
        services and history. If an IP address moves without its MAC address, the MAC address will no longer identify
        the asset. Otherwise, new events would undo the split.
      </p>
      {all.length < 2 ? (
        <p class="quiet">The asset has fewer than two addresses.</p>
      ) : (
        <>
          {ip_addresses.length > 0 && <Options legend="IP addresses">{ip_addresses.map(choice)}</Options>}
          {mac_addresses.length > 0 && <Options legend="MAC addresses">{mac_addresses.map(choice)}</Options>}
          {isAll && <p class="field-error">At least one address must remain.</p>}
        </>
      )}
    </ActionDialog>
  );
}
