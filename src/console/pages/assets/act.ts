import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { ServiceError } from '../../../errors.ts';
import { ifVersion } from '../../state/answers.ts';
import { api } from '../../state/session.ts';
import { counted, number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { assetsChanged, putAssets } from './cache.ts';
import type { AssetRow } from './question.ts';
import { describeChange, differencesOf, mayBecome } from './states.ts';

/** Returns request parameters that make the service reject the change if the asset has changed since it was shown. */
export const asSeen = ({ id, attributes }: AssetRow) => ({
  params: { asset_id: id },
  headers: ifVersion(attributes.version),
});

/** Error text of dialogs that show an asset which another user has changed since. */
export const conflict = 'Another user changed it. Close this dialog, review the asset and try again.';

/**
 * Changes an asset if its version is still the one on screen.
 *
 * @throws ServiceError as returned by the service; VERSION_MISMATCH if another user changed the asset first
 */
export async function saveAsset(seen: AssetRow, change: AssetUpdateInput): Promise<AssetRow> {
  const { data } = await api.call('updateAsset', { ...asSeen(seen), body: change });
  putAssets(new Map([[data.id, data]]));
  await assetsChanged();
  return data;
}

/**
 * Changes an asset and shows a toast on success and on failure. After a conflict, shows and describes the other user's
 * change.
 */
export async function changeAsset(seen: AssetRow, change: AssetUpdateInput): Promise<boolean> {
  const { name } = seen.attributes;
  try {
    await saveAsset(seen, change);
    say(`${quoted(name)}: ${describeChange(change)}.`);
    return true;
  } catch (error) {
    sayFailure(`${quoted(name)} was not changed`, await explainError(error, seen));
    return false;
  }
}

async function explainError(error: unknown, seen: AssetRow): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'VERSION_MISMATCH') return error;
  try {
    const { data } = await api.call('getAsset', { params: { asset_id: seen.id } });
    putAssets(new Map([[data.id, data]]));
    const others = differencesOf(seen.attributes, data.attributes).join('; ') || 'it has a newer version';
    return new ServiceError(error.code, `another user changed it: ${others}. Review the asset and try again.`);
  } catch (failure) {
    return failure;
  }
}

/** Concurrent requests of a bulk change. */
const concurrency = 4;
/** Errors after which further requests would fail too. */
const fatalCodes: readonly string[] = ['UNAVAILABLE', 'OVERLOADED', 'RATE_LIMITED', 'UNAUTHENTICATED', 'FORBIDDEN'];

/**
 * Applies one change to many assets, with one request per asset. `onProgress` receives the number of assets changed.
 * Stops early when `signal` aborts or the service cannot accept more requests.
 *
 * @returns the ids of assets that the change applies to but that were not changed
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
        ended ||= !isKnown || fatalCodes.includes(error.code);
      }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
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
  const skipped = unable === 0 ? '' : `; ${number(unable)} skipped, as their state does not allow it`;
  say(`${counted(changed, 'asset')}: ${describeChange(change)}${skipped}.`);
  if (reasons.size > 0)
    sayFailure(
      `${counted(left, 'asset was', 'assets were')} not changed`,
      new ServiceError('CONFLICT', [...reasons].slice(0, 3).join('; ')),
    );
  else if (left > 0) say(`Stopped; ${counted(left, 'asset')} not changed.`);
}
