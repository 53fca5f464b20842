import { canonicalIdentifiers } from '../asset-input.ts';
import { createdAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';

export const splitAsset: Handler<'splitAsset'> = async ({ services, params, body, identity }) => {
  const identifiers = canonicalIdentifiers(body.identifiers);
  return createdAsset(await services.store.splitAsset(params.asset_id, identifiers, identity.principal));
};
