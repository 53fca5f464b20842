import { defaultWindow } from '../../contract/vocabulary.ts';
import { askedBy } from '../asked-by.ts';
import { readAsset } from '../asset-reads.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getAssetRiskHistory: Handler<'getAssetRiskHistory'> = async (context) => {
  const { services, params, query } = context;
  const { window = defaultWindow } = query;
  const asked = { assetId: params.asset_id, window, now: Date.now() };
  const read = services.queries.run('riskHistory', asked, askedBy(context));
  const history = await countingRefusals(services.metrics, queryLimits, read);
  readAsset(params.asset_id, services);
  return resource('risk_history', params.asset_id, history!);
};
