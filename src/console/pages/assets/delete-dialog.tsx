import { useState } from 'preact/hooks';
import { api } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { number } from '../../ui/format.ts';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { asSeen } from './act.ts';
import { assetsMoved } from './cache.ts';
import type { AssetRow } from './question.ts';
import { Refused } from './refused.tsx';

/** Asks before an asset is deleted, and says what goes with it. */
export function DeleteDialog({
  asset,
  onDone,
  onClose,
}: {
  asset: AssetRow;
  onDone: () => void;
  onClose: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { name, service_count, state } = asset.attributes;
  const remove = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await api.call('deleteAsset', asSeen(asset));
      say(`${quoted(name)} was deleted.`);
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
        The asset, its history and what is known of its {number(service_count)}{' '}
        {service_count === 1 ? 'service' : 'services'} are gone for good. Events and alerts stay. If the
        network shows its addresses again, they become a new asset, staged as all new ones are.
      </p>
      {state !== 'retired' && (
        <p class="quiet">
          One that is out of use can be retired instead: it keeps its history, and says so when it is seen
          again.
        </p>
      )}
      <p class="quiet">Who deleted it is written into the audit trail.</p>
      <Refused error={error} what="Not deleted" />
      <div class="row">
        <Button kind="danger" busy={busy} onClick={() => void remove()}>
          Delete it
        </Button>
        <Button onClick={onClose}>Keep it</Button>
      </div>
    </Dialog>
  );
}
