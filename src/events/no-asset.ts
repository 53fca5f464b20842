import { ServiceError } from '../errors.ts';

/**
 * Creates the error for reads of a missing asset: NOT_FOUND, and the id of the asset into which it was merged, if
 * any.
 */
export function noAsset(id: string, mergedInto: string | undefined): ServiceError {
  if (mergedInto === undefined) return new ServiceError('NOT_FOUND', `there is no asset ${id}`);
  return new ServiceError('NOT_FOUND', `asset ${id} was merged into ${mergedInto}`, {
    merged_into: mergedInto,
  });
}
