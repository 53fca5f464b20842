import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getAsset: Handler<'getAsset'> = ({ services, params }) =>
  resource('asset', params.asset_id, readAsset(params.asset_id, services));
