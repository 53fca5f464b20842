import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { abbreviated } from '../../ui/format.ts';

/** An asset by its name, once that is known; leads to the asset. */
export function AssetName({ id }: { id: string }) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { still: true, keepPrevious: false });
  const name = answer.data?.data.attributes.name;
  return (
    <a class="asset-link" href={href('assets', { id })}>
      <bdi title={name ?? id}>{name ?? (answer.error ? `${abbreviated(id)} (no longer there)` : '…')}</bdi>
    </a>
  );
}
