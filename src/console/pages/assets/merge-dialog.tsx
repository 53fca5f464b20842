import { useState } from 'preact/hooks';
import { asSearchText } from '../../../contract/search-text.ts';
import { useAnswer } from '../../state/answers.ts';
import { api } from '../../state/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Options, TextField } from '../../ui/form.tsx';
import { number } from '../../ui/format.ts';
import { Loading } from '../../ui/states.tsx';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { asSeen, conflict } from './act.ts';
import { assetsMoved } from './cache.ts';
import { State } from './columns.tsx';
import type { AssetRow } from './question.ts';

const maxOffered = 8;

/** Dialog to merge an asset into another asset that the user selects. */
export function MergeDialog({
  asset,
  onDone,
  onClose,
}: {
  asset: AssetRow;
  onDone: (into: string) => void;
  onClose: () => void;
}) {
  const [search, setSearch] = useState('');
  const [into, setInto] = useState<AssetRow>();
  const { name } = asset.attributes;
  const text = search.trim();
  const found = useAnswer(
    'listAssets',
    { query: { ...(text !== '' && { q: asSearchText(text) }), per_page: maxOffered + 1 } },
    { keepPrevious: true },
  );
  const offered = (found.data?.data ?? []).filter(({ id }) => id !== asset.id).slice(0, maxOffered);
  const merge = async () => {
    if (into === undefined) return;
    const { data } = await api.call('mergeAsset', { ...asSeen(asset), body: { into: into.id } });
    say(`${quoted(name)} merged into ${quoted(data.attributes.name)}.`);
    onDone(data.id);
    void assetsMoved();
  };
  return (
    <ActionDialog
      title={`Merge ${quoted(name)} into another asset`}
      action={into === undefined ? 'Merge' : `Merge into ${quoted(into.attributes.name, 40)}`}
      danger
      disabled={into === undefined}
      wide
      conflict={conflict}
      run={merge}
      onClose={onClose}
    >
      <p>
        Use this if both assets are the same machine. The addresses, services, history, alerts, notes and tags of “
        <bdi>{name}</bdi>” will move to the other asset, which keeps its own name, owner and criticality. “
        <bdi>{name}</bdi>” will be removed, and links to it will lead to the other asset. A merge cannot be undone, but
        addresses can be split off again.
      </p>
      <TextField
        label="Merge into"
        hint="Search by name, hostname or address."
        type="search"
        autofocus
        value={search}
        maxLength={256}
        autocomplete="off"
        onValue={setSearch}
      />
      <Options legend={<span class="unseen">Target asset</span>}>
        {found.data === undefined ? (
          <Loading rows={3} />
        ) : offered.length === 0 ? (
          <p class="quiet">No other asset matches.</p>
        ) : (
          offered.map((one) => (
            <label key={one.id}>
              <input type="radio" name="into" checked={into?.id === one.id} onChange={() => setInto(one)} />
              <bdi class="clip">{one.attributes.name}</bdi>
              <bdi class="quiet mono clip">
                {one.attributes.ip_addresses.join(', ') || one.attributes.mac_addresses.join(', ')}
              </bdi>
              <State state={one.attributes.state} />
            </label>
          ))
        )}
      </Options>
      {(found.data?.pagination.total ?? 0) > maxOffered + 1 && (
        <p class="quiet">
          Showing {number(maxOffered)} of {number(found.data?.pagination.total ?? 0)}. Refine the search to see more.
        </p>
      )}
    </ActionDialog>
  );
}
