import { canonicalAsset, requireIdentity } from '../asset-input.ts';
import { createdAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';

export const createAsset: Handler<'createAsset'> = async ({ services, body, identity }) => {
  requireIdentity(body);
  return createdAsset(await services.store.createAsset(canonicalAsset(body), identity.principal));
};
