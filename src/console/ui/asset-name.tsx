import { href } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { abbreviated } from './format.ts';
import './asset-name.css';

/** An asset by its name, once that is known. */
export function AssetName({
  id,
  link = false,
}: {
  id: string;
  /** Whether it leads to the asset. */
  link?: boolean;
}) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { still: true, keepPrevious: false });
  const name = answer.data?.data.attributes.name;
  const shown = (
    <bdi title={name ?? id}>{name ?? (answer.error ? `${abbreviated(id)} (no longer there)` : '…')}</bdi>
  );
  if (!link) return shown;
  return (
    <a class="asset-name" href={href('assets', { id })}>
      {shown}
    </a>
  );
}
