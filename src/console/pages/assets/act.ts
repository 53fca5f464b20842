import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { assetsChanged, putAssets } from './cache.ts';
import type { AssetRow } from './question.ts';
import { differencesOf, mayBecome, told } from './states.ts';

/** Of an asset as it was seen: the service refuses where it is no longer so. */
export const asSeen = ({ id, attributes }: AssetRow) => ({
  params: { asset_id: id },
  headers: { 'if-match': `"${attributes.version}"` },
});

/**
 * Changes an asset, if it still is what was seen.
 *
 * @throws ServiceError as the service answers: VERSION_MISMATCH where somebody else was quicker
 */
export async function saveAsset(seen: AssetRow, change: AssetUpdateInput): Promise<AssetRow> {
  const { data } = await api.call('updateAsset', { ...asSeen(seen), body: change });
  putAssets(new Map([[data.id, data]]));
  await assetsChanged();
  return data;
}

/** The same, told where it is done or fails. Where somebody else was quicker, what they did is shown and told. */
export async function changeAsset(seen: AssetRow, change: AssetUpdateInput): Promise<boolean> {
  const { name } = seen.attributes;
  try {
    await saveAsset(seen, change);
    say(`${quoted(name)}: ${told(change)}.`);
    return true;
  } catch (error) {
    sayFailure(`${quoted(name)} was not changed`, await explained(error, seen));
    return false;
  }
}

async function explained(error: unknown, seen: AssetRow): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'VERSION_MISMATCH') return error;
  try {
    const { data } = await api.call('getAsset', { params: { asset_id: seen.id } });
    putAssets(new Map([[data.id, data]]));
    const others =
      differencesOf(seen.attributes, data.attributes).join('; ') || 'it is newer than what was shown';
    return new ServiceError(error.code, `somebody changed it meanwhile: ${others}. Look again and decide.`);
  } catch (failure) {
    return failure;
  }
}

/** As many changes are under way at a time. */
const atOnce = 4;
/** After one of these, the next would fail alike. */
const hopeless: readonly string[] = [
  'UNAVAILABLE',
  'OVERLOADED',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
];

/**
 * Changes many assets in the same way, each by a call of its own. `onProgress`: how many were dealt with. Ends early
 * where `signal` says so, and where the service cannot take more.
 *
 * @returns the ids that were not changed and could have been
 */
export async function changeMany(
  rows: readonly AssetRow[],
  change: AssetUpdateInput,
  { onProgress, signal }: { onProgress: (done: number) => void; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const { state } = change;
  const able = rows.filter(({ attributes }) => state === undefined || mayBecome(attributes.state, state));
  const left = new Set(able.map(({ id }) => id));
  const queue = [...able];
  const reasons = new Set<string>();
  const changed = new Map<string, AssetRow>();
  let ended = false;
  const work = async () => {
    for (let row = queue.shift(); row !== undefined && !ended && !signal.aborted; row = queue.shift())
      try {
        const { data } = await api.call('updateAsset', { ...asSeen(row), body: change });
        changed.set(data.id, data);
        left.delete(data.id);
        onProgress(changed.size);
      } catch (error) {
        const isKnown = error instanceof ServiceError;
        reasons.add(isKnown ? error.message.replace(row.id, '').replace(/ {2,}/g, ' ') : String(error));
        ended ||= !isKnown || hopeless.includes(error.code);
      }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  putAssets(changed);
  await assetsChanged();
  report(rows.length - able.length, changed.size, left.size, reasons, change);
  return left;
}

function report(
  unable: number,
  changed: number,
  left: number,
  reasons: ReadonlySet<string>,
  change: AssetUpdateInput,
): void {
  const skipped = unable === 0 ? '' : `; ${number(unable)} cannot become so from where they are`;
  say(`${number(changed)} ${changed === 1 ? 'asset' : 'assets'}: ${told(change)}${skipped}.`);
  if (reasons.size > 0)
    sayFailure(
      `${number(left)} were not changed`,
      new ServiceError('CONFLICT', [...reasons].slice(0, 3).join('; ')),
    );
  else if (left > 0) say(`Stopped: ${number(left)} were left as they are.`);
}
