import { ServiceError } from '../errors.ts';

/** What reads of an asset that isn't there answer: NOT_FOUND, with the one that it was merged into. */
export function noAsset(id: string, mergedInto: string | undefined): ServiceError {
  if (mergedInto === undefined) return new ServiceError('NOT_FOUND', `there is no asset ${id}`);
  return new ServiceError('NOT_FOUND', `asset ${id} was merged into ${mergedInto}`, {
    merged_into: mergedInto,
  });
}
