import { onlyId } from '../../contract/singleton.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';
import { currentStatus } from '../status.ts';

export const confirmClock: Handler<'confirmClock'> = async ({ services }) => {
  await services.ledger.confirmClock();
  services.pokeOutbox();
  return resource('status', onlyId, await currentStatus(services));
};
