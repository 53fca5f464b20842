import { href } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { abbreviated } from './format.ts';
import './asset-name.css';

/** Shows an asset's name once it is loaded. */
export function AssetName({
  id,
  link = false,
}: {
  id: string;
  /** Whether the name is a link to the asset. */
  link?: boolean;
}) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { still: true, keepPrevious: false });
  const name = answer.data?.data.attributes.name;
  const shown = <bdi title={name ?? id}>{name ?? (answer.error ? `${abbreviated(id)} (not found)` : '…')}</bdi>;
  if (!link) return shown;
  return (
    <a class="asset-name" href={href('assets', { id })}>
      {shown}
    </a>
  );
}
