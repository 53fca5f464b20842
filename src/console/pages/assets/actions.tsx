import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { maxLineLength } from '../../../contract/vocabulary.ts';
import { setParams } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, TextField } from '../../ui/form.tsx';
import { counted } from '../../ui/format.ts';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { changeAsset, changeMany } from './act.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import type { AssetRow } from './question.ts';
import { SplitDialog } from './split-dialog.tsx';
import { mayBecome } from './states.ts';

/** Actions on one asset. */
export interface SingleActions {
  readonly edit: (asset: AssetRow) => void;
  readonly manage: (asset: AssetRow) => void;
  readonly retire: (asset: AssetRow) => void;
  readonly merge: (asset: AssetRow) => void;
  readonly split: (asset: AssetRow) => void;
  readonly remove: (asset: AssetRow) => void;
}

interface Progress {
  readonly done: number;
  readonly of: number;
  readonly stop: () => void;
}

export interface Actions {
  readonly single: SingleActions;
  readonly many: {
    readonly manage: () => void;
    readonly retire: () => void;
    readonly own: () => void;
    readonly set: (change: AssetUpdateInput) => void;
  };
  readonly create: () => void;
  readonly unmark: () => void;
  readonly dialog: ComponentChildren;
  /** A running bulk change. */
  readonly progress: Progress | undefined;
}

type OpenDialog =
  | { readonly kind: 'create' | 'own' }
  | { readonly kind: 'edit' | 'merge' | 'split' | 'remove'; readonly asset: AssetRow };

/**
 * Returns the actions for buttons, and the open dialog; registers the shortcut keys. The key `m` acts on the selected
 * assets or, without a selection, on the current asset.
 */
export function useActions({
  rows,
  marked,
  currentId,
  onUnmark,
  onRefresh,
}: {
  rows: readonly AssetRow[];
  marked: readonly AssetRow[];
  currentId: string | undefined;
  /** Reduces the selection to these ids. */
  onUnmark: (left: ReadonlySet<string>) => void;
  onRefresh: () => void;
}): Actions {
  const [asking, setOpenDialog] = useState<OpenDialog>();
  const [progress, setProgress] = useState<Progress>();
  const current = rows.find(({ id }) => id === currentId);
  const close = () => setOpenDialog(undefined);
  const ask = (kind: 'edit' | 'merge' | 'split' | 'remove') => (asset: AssetRow) => setOpenDialog({ kind, asset });

  const many = async (change: AssetUpdateInput) => {
    if (progress !== undefined) return;
    const abort = new AbortController();
    const report = (done: number) => setProgress({ done, of: marked.length, stop: () => abort.abort() });
    report(0);
    const left = await changeMany(marked, change, { onProgress: report, signal: abort.signal });
    setProgress(undefined);
    onUnmark(left);
  };
  const become = (state: 'managed' | 'retired') => (asset: AssetRow) => {
    if (asset.attributes.state === state) say(`${quoted(asset.attributes.name)} is already ${state}.`);
    else if (mayBecome(asset.attributes.state, state)) void changeAsset(asset, { state });
  };
  const single: SingleActions = {
    edit: ask('edit'),
    manage: become('managed'),
    retire: become('retired'),
    merge: ask('merge'),
    split: ask('split'),
    remove: ask('remove'),
  };
  const create = () => setOpenDialog({ kind: 'create' });
  const unmark = () => onUnmark(new Set());
  useKeys('Assets', {
    ...(may('updateAsset') && {
      e: { title: 'Edit asset', run: () => current !== undefined && single.edit(current) },
      m: {
        title: 'Mark as managed',
        run: () => {
          if (marked.length > 0) void many({ state: 'managed' });
          else if (current !== undefined) single.manage(current);
        },
      },
    }),
    ...(may('createAsset') && { n: { title: 'New asset', run: create } }),
    '.': { title: 'Load new', run: onRefresh },
    ...(marked.length > 0 && { escape: { title: 'Clear selection', run: unmark } }),
  });
  const gone = () => {
    close();
    setParams({ id: undefined });
  };
  const goTo = (id: string) => {
    close();
    setParams({ id, ip: undefined });
  };
  const dialog = asking !== undefined && (
    <>
      {asking.kind === 'create' && <EditDialog asset={undefined} onDone={goTo} onClose={close} />}
      {asking.kind === 'edit' && <EditDialog asset={asking.asset} onDone={close} onClose={close} />}
      {asking.kind === 'merge' && <MergeDialog asset={asking.asset} onDone={goTo} onClose={close} />}
      {asking.kind === 'split' && <SplitDialog asset={asking.asset} onDone={goTo} onClose={close} />}
      {asking.kind === 'remove' && <DeleteDialog asset={asking.asset} onDone={gone} onClose={close} />}
      {asking.kind === 'own' && (
        <OwnerDialog
          count={marked.length}
          onOwner={(owner) => {
            close();
            void many({ owner });
          }}
          onClose={close}
        />
      )}
    </>
  );
  return {
    single,
    many: {
      manage: () => void many({ state: 'managed' }),
      retire: () => void many({ state: 'retired' }),
      own: () => setOpenDialog({ kind: 'own' }),
      set: (change) => void many(change),
    },
    create,
    unmark,
    dialog,
    progress,
  };
}

/** Sets the owner of the selected assets. */
function OwnerDialog({
  count,
  onOwner,
  onClose,
}: {
  count: number;
  onOwner: (owner: string) => void;
  onClose: () => void;
}) {
  const [owner, setOwner] = useState('');
  return (
    <Dialog title={`Owner of ${counted(count, 'asset')}`} onClose={onClose}>
      <Form onSubmit={() => onOwner(owner.trim())}>
        <TextField
          label="Owner"
          hint="Person or team responsible. Leave empty to remove the owner."
          autofocus
          value={owner}
          maxLength={maxLineLength}
          autocomplete="off"
          onValue={setOwner}
        />
        <FormButtons action={owner.trim() === '' ? 'Remove owner' : 'Set owner'} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
