import { api } from '../../state/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { counted } from '../../ui/format.ts';
import { quoted } from '../../ui/words.ts';
import { asSeen, conflict } from './act.ts';
import { assetsMoved } from './cache.ts';
import type { AssetRow } from './question.ts';

/** Dialog to confirm the deletion of an asset, with the data that is also deleted. */
export function DeleteDialog({ asset, onDone, onClose }: { asset: AssetRow; onDone: () => void; onClose: () => void }) {
  const { name, service_count, state } = asset.attributes;
  return (
    <ActionDialog
      title={`Delete ${quoted(name)}?`}
      action="Delete"
      danger
      conflict={conflict}
      run={() => api.call('deleteAsset', asSeen(asset))}
      done={`${quoted(name)} deleted.`}
      onDone={() => {
        onDone();
        void assetsMoved();
      }}
      onClose={onClose}
    >
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
    </ActionDialog>
  );
}
