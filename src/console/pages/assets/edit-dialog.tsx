import { useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../../errors.ts';
import { href } from '../../state/address.ts';
import { api } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { saveAsset } from './act.ts';
import { assetsMoved, putAssets } from './cache.ts';
import { AssetFields } from './fields.tsx';
import { type AssetForm, changesOf, emptyForm, type FormFault, faultOf, formOf, rebased } from './form.ts';
import type { AssetRow } from './question.ts';
import { differencesOf } from './states.ts';
import './edit-dialog.css';

/** What people know of an asset: of one that is there, or of a new one. */
export function EditDialog({
  asset,
  onDone,
  onClose,
}: {
  asset: AssetRow | undefined;
  onDone: (id: string) => void;
  onClose: () => void;
}) {
  /** What was there when the form was filled; newer than `asset` where somebody else saved meanwhile. */
  const basis = useRef(asset);
  const began = useRef(asset === undefined ? emptyForm : formOf(asset.attributes));
  const [form, setForm] = useState<AssetForm>(began.current);
  const [fault, setFault] = useState<FormFault>();
  const [meanwhile, setMeanwhile] = useState<readonly string[]>();
  const [busy, setBusy] = useState(false);
  const change = changesOf(began.current, form);
  const isChanged = Object.keys(change).length > 0;

  const save = async () => {
    if (!isChanged || busy) return;
    setBusy(true);
    setFault(undefined);
    try {
      const saved =
        basis.current === undefined
          ? (await api.call('createAsset', { body: change })).data
          : await saveAsset(basis.current, change);
      if (basis.current === undefined) await assetsMoved();
      say(`${quoted(saved.attributes.name)} was ${basis.current === undefined ? 'entered' : 'changed'}.`);
      onDone(saved.id);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'VERSION_MISMATCH') await reload();
      else setFault(faultOf(error, change));
      setBusy(false);
    }
  };
  /** What somebody else saved is put under what was typed. */
  const reload = async () => {
    const before = basis.current;
    if (before === undefined) return;
    try {
      const { data } = await api.call('getAsset', { params: { asset_id: before.id } });
      putAssets(new Map([[data.id, data]]));
      const saved = formOf(data.attributes);
      setForm(rebased(began.current, form, saved));
      setMeanwhile(differencesOf(before.attributes, data.attributes));
      basis.current = data;
      began.current = saved;
    } catch (error) {
      setFault(faultOf(error, {}));
    }
  };

  return (
    <Dialog
      wide
      title={asset === undefined ? 'New asset' : `Edit ${quoted(asset.attributes.name)}`}
      onClose={onClose}
    >
      {asset === undefined && (
        <p class="quiet">
          For what the network does not show, or not yet. It needs a name, an address or a host name; what the
          network shows of its addresses later is added to it.
        </p>
      )}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {meanwhile !== undefined && (
          <p class="asset-meanwhile" role="alert">
            Somebody changed it meanwhile:{' '}
            <bdi>{meanwhile.join('; ') || 'it is newer than what was shown'}</bdi>. What you typed is kept and
            nothing of it is saved yet; save again to put it over that.
          </p>
        )}
        <AssetFields
          form={form}
          state={basis.current?.attributes.state}
          fault={fault}
          onChange={(field, value) => {
            setForm({ ...form, [field]: value });
            if (fault?.field === field) setFault(undefined);
          }}
        />
        {fault !== undefined && (
          <p class="field-error" role="alert">
            {fault.field === undefined ? `Not saved: ${fault.text}` : 'Not saved: see above.'}
            {fault.holder !== undefined && (
              <>
                {' '}
                <a href={href('assets', { id: fault.holder })} onClick={onClose}>
                  The asset that has it
                </a>
              </>
            )}
          </p>
        )}
        <div class="row">
          <Button type="submit" kind="primary" busy={busy} disabled={!isChanged}>
            {asset === undefined ? 'Enter it' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          {!isChanged && asset !== undefined && <span class="quiet">Nothing is changed yet.</span>}
        </div>
      </form>
    </Dialog>
  );
}
