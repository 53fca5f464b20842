import { parseTilePath } from '../../tlog/tile.ts';
import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';
import { addressIn, tileReply } from '../tile-replies.ts';

export const getTile: Handler<'getTile'> = async (context) => {
  const { services, params } = context;
  const address = addressIn('tile', params.tile, parseTilePath);
  return tileReply(await services.logReader.tile(await logView(context), address), true);
};
