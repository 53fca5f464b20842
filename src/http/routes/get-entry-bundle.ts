import { parseEntriesPath } from '../../tlog/tile.ts';
import type { Handler } from '../context.ts';
import { addressIn, tileReply } from '../tile-replies.ts';

export const getEntryBundle: Handler<'getEntryBundle'> = async ({ services, params }) => {
  const { index, width } = addressIn('bundle', params.bundle, parseEntriesPath);
  const body = await services.ledger.entryBundle(index, width);
  return tileReply(body, services.policy.accessOf('getEntryBundle') === 'public');
};
