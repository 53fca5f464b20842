import { useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../../errors.ts';
import { href } from '../../state/address.ts';
import { api } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormError } from '../../ui/form.tsx';
import { say } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { saveAsset } from './act.ts';
import { assetsMoved, putAssets } from './cache.ts';
import { AssetFields } from './fields.tsx';
import { type AssetForm, changesOf, emptyForm, type FormFault, faultOf, formOf, rebased } from './form.ts';
import type { AssetRow } from './question.ts';
import { differencesOf } from './states.ts';
import './edit-dialog.css';

/** Dialog to create or edit an asset. */
export function EditDialog({
  asset,
  onDone,
  onClose,
}: {
  asset: AssetRow | undefined;
  onDone: (id: string) => void;
  onClose: () => void;
}) {
  /** The version that the form is based on; newer than `asset` after another user's change was merged in. */
  const basis = useRef(asset);
  const initial = useRef(asset === undefined ? emptyForm : formOf(asset.attributes));
  const [form, setForm] = useState<AssetForm>(initial.current);
  const [fault, setFault] = useState<FormFault>();
  const [otherChanges, setOtherChanges] = useState<readonly string[]>();
  const [busy, setBusy] = useState(false);
  const change = changesOf(initial.current, form);
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
      say(`${quoted(saved.attributes.name)} ${basis.current === undefined ? 'created' : 'saved'}.`);
      onDone(saved.id);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'VERSION_MISMATCH') await reload();
      else setFault(faultOf(error, change));
      setBusy(false);
    }
  };
  /** Rebases the user's edits on the version that another user saved. */
  const reload = async () => {
    const before = basis.current;
    if (before === undefined) return;
    try {
      const { data } = await api.call('getAsset', { params: { asset_id: before.id } });
      putAssets(new Map([[data.id, data]]));
      const saved = formOf(data.attributes);
      setForm(rebased(initial.current, form, saved));
      setOtherChanges(differencesOf(before.attributes, data.attributes));
      basis.current = data;
      initial.current = saved;
    } catch (error) {
      setFault(faultOf(error, {}));
    }
  };

  return (
    <Dialog wide title={asset === undefined ? 'New asset' : `Edit ${quoted(asset.attributes.name)}`} onClose={onClose}>
      {asset === undefined && (
        <p class="quiet">
          For assets that sensors have not seen. Enter a name, an address or a hostname. Data that sensors later report
          about the asset’s addresses is added to the asset.
        </p>
      )}
      <Form onSubmit={() => void save()}>
        {otherChanges !== undefined && (
          <p class="asset-meanwhile" role="alert">
            Another user changed this asset: <bdi>{otherChanges.join('; ') || 'it has a newer version'}</bdi>. Your
            edits are kept but not saved; save again to apply them.
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
          <FormError>
            {fault.field === undefined ? `Not saved: ${fault.text}` : 'Not saved: see above.'}
            {fault.holder !== undefined && (
              <>
                {' '}
                <a href={href('assets', { id: fault.holder })} onClick={onClose}>
                  Show the other asset
                </a>
              </>
            )}
          </FormError>
        )}
        <div class="row">
          <Button type="submit" kind="primary" busy={busy} disabled={!isChanged}>
            {asset === undefined ? 'Create asset' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          {!isChanged && asset !== undefined && <span class="quiet">No changes.</span>}
        </div>
      </Form>
    </Dialog>
  );
}
