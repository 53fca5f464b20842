import { canonicalIdentifiers } from '../asset-input.ts';
import { createdAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';

export const splitAsset: Handler<'splitAsset'> = async ({ services, params, headers, body, identity }) => {
  const version = ifMatchVersion(headers['if-match']);
  const identifiers = canonicalIdentifiers(body.identifiers);
  const { store } = services;
  return createdAsset(await store.splitAsset(params.asset_id, identifiers, identity.principal, version));
};
