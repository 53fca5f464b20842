import { useState } from 'preact/hooks';
import { api } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { counted } from '../../ui/format.ts';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { asSeen } from './act.ts';
import { assetsMoved } from './cache.ts';
import type { AssetRow } from './question.ts';
import { Refused } from './refused.tsx';

/** Dialog to confirm the deletion of an asset, with the data that is also deleted. */
export function DeleteDialog({ asset, onDone, onClose }: { asset: AssetRow; onDone: () => void; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { name, service_count, state } = asset.attributes;
  const remove = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await api.call('deleteAsset', asSeen(asset));
      say(`${quoted(name)} deleted.`);
      onDone();
      await assetsMoved();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Delete ${quoted(name)}?`} onClose={onClose}>
      <p>
        This permanently deletes the asset, its history and its {counted(service_count, 'service')}. Events and alerts
        are kept. If its addresses are seen again, they will become a new staged asset.
      </p>
      {state !== 'retired' && (
        <p class="quiet">
          If the asset is no longer in use, retire it instead: a retired asset keeps its history, and the history shows
          when the asset is seen again.
        </p>
      )}
      <p class="quiet">The deletion will be recorded in the audit trail.</p>
      <Refused error={error} what="Not deleted" />
      <div class="row">
        <Button kind="danger" busy={busy} onClick={() => void remove()}>
          Delete
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
