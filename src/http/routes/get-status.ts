import { onlyId } from '../../contract/singleton.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';
import { currentStatus } from '../status.ts';

export const getStatus: Handler<'getStatus'> = async ({ services }) =>
  resource('status', onlyId, await currentStatus(services));
