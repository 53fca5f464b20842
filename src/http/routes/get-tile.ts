import { parseTilePath } from '../../tlog/tile.ts';
import type { Handler } from '../context.ts';
import { addressIn, tileReply } from '../tile-replies.ts';

export const getTile: Handler<'getTile'> = async ({ services, params }) =>
  tileReply(await services.ledger.tile(addressIn('tile', params.tile, parseTilePath)), true);
