import { parseEntriesPath } from '../../tlog/tile.ts';
import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';
import { addressIn, tileReply } from '../tile-replies.ts';

export const getEntryBundle: Handler<'getEntryBundle'> = async (context) => {
  const { services, params } = context;
  const { index, width } = addressIn('bundle', params.bundle, parseEntriesPath);
  const body = await services.logReader.entryBundle(await logView(context), index, width);
  return tileReply(body, services.policy.accessOf('getEntryBundle') === 'public');
};
